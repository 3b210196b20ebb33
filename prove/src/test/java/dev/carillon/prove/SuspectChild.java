package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.util.concurrent.CountDownLatch;

/**
 * A process with a job that never ends and one that kills it, once the first one runs. What starts
 * is told on the standard output.
 */
final class SuspectChild {
  static final TaskType<Void> LASTS = TaskType.of("lasts", Void.class);
  static final TaskType<Void> KILLS = TaskType.of("kills", Void.class);
  static final int EXIT = 77;

  private SuspectChild() {}

  public static void main(String[] args) throws InterruptedException {
    CountDownLatch lasting = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    try (Carillon carillon = Carillon.open(args[0])) {
      carillon.handle(
          LASTS,
          (nothing, job) -> {
            System.out.println("lasts");
            lasting.countDown();
            never.await();
          });
      carillon.handle(
          KILLS,
          (nothing, job) -> {
            lasting.await();
            System.out.println("kills");
            Runtime.getRuntime().halt(EXIT);
          });
      never.await();
    }
  }
}
