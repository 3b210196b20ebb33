package dev.carillon.prove;

import dev.carillon.api.JobContext;
import dev.carillon.api.JobType;
import dev.carillon.worker.CarillonWorker;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A worker that is killed or stands still. It tells its parent what begins and ends. */
@Command(
    name = "workers-child",
    hidden = true,
    description = "A worker that a proof puts under stress.")
final class WorkersChild implements Callable<Integer> {
  static final JobType<Task, String> TYPE = JobType.of("proved", Task.class, String.class);
  private static final int LOOK_MILLIS = 10;

  @Option(names = "--server")
  private String server = "";

  @Option(names = "--lease-seconds")
  private int leaseSeconds = 5;

  /**
   * What a job does.
   *
   * @param key what the proof calls it
   * @param millis how long it takes
   */
  record Task(String key, long millis) {}

  @Override
  public Integer call() throws Exception {
    try (CarillonWorker worker =
        CarillonWorker.builder()
            .server(server)
            .slots(8)
            .lease(Duration.ofSeconds(leaseSeconds))
            .handle(TYPE, WorkersChild::run)
            .start()) {
      boolean connected = false;
      while (System.in.available() == 0) { // until it is killed, or told to end
        boolean now = worker.info().isConnected();
        if (now != connected) {
          connected = now;
          tell(now ? "connected" : "disconnected", "-", "-");
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      }
    }
    return 0;
  }

  private static String run(Task task, JobContext job) throws InterruptedException {
    String attempt = job.attempt() + ":" + Long.toHexString(job.token().nonce());
    tell("begin", task.key(), attempt);
    try {
      TimeUnit.MILLISECONDS.sleep(task.millis());
    } catch (InterruptedException e) {
      tell("stopped", task.key(), attempt);
      throw e;
    }
    tell("end", task.key(), attempt);
    return attempt;
  }

  private static void tell(String what, String key, String attempt) {
    synchronized (System.out) {
      System.out.println(what + " " + key + " " + attempt);
    }
  }
}
