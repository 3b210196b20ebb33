package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;

/** Many jobs first, as in a program that has run for a while: it is not the compiler's time. */
final class WarmUp {
  static final int JOBS = 200_000;

  private static final TaskType<Order> WARM_UP = TaskType.of("warm-up", Order.class);
  private static final int SECONDS_AT_MOST = 300;

  private WarmUp() {}

  static void run(Carillon carillon, Report report) throws InterruptedException {
    report.progress("warming up");
    LongAdder ran = new LongAdder();
    carillon.handle(
        WARM_UP,
        (order, job) -> {
          ran.increment();
          Thread.sleep(1);
        });
    new Fill(carillon, report)
        .run(JOBS, 0, number -> WARM_UP.job(Order.of(number)).at(Instant.now()));
    LatenessLog.await("the warm-up", () -> ran.sum() == JOBS, SECONDS_AT_MOST);
  }
}
