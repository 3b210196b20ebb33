package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One who schedules a job every few milliseconds and waits for it each time: each is a commit of
 * its own, so how long it takes is how long a commit takes beside whatever else goes on.
 */
final class LonelyProducer implements AutoCloseable {
  private static final TaskType<Order> LATER = TaskType.of("later", Order.class);
  private static final long PAUSE_NANOS = 5_000_000;
  private static final int WARM_UP = 50;

  private final Carillon carillon;
  private final Samples nanos = new Samples();
  private final Thread thread;
  private volatile boolean stopped;

  LonelyProducer(Carillon carillon) {
    this.carillon = carillon;
    this.thread = Thread.ofPlatform().name("producer").start(this::produce);
  }

  private void produce() {
    for (long i = 0; !stopped; i++) {
      long start = System.nanoTime();
      var unused = carillon.schedule(LATER.job(Order.of(i)).in(Duration.ofDays(2)));
      if (i >= WARM_UP) {
        nanos.add(System.nanoTime() - start);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Stops and says how long commits took. */
  void report(Report report, String metric) throws InterruptedException {
    report(report, metric, null);
  }

  /** The same, held against a bound. */
  void report(Report report, String metric, @Nullable Bound bound) throws InterruptedException {
    stop();
    Figure p99 = Figure.of("history", metric, millis(99), "ms");
    report.figure(Figure.of("history", metric.replace("p99", "p50"), millis(50), "ms"));
    report.figure(bound == null ? p99 : p99.held(bound));
    report.figure(Figure.of("history", metric.replace("p99", "longest"), millis(100), "ms"));
  }

  private double millis(double percent) {
    return nanos.percentile(percent) / 1e6;
  }

  private void stop() throws InterruptedException {
    stopped = true;
    thread.join();
  }

  @Override
  public void close() {
    try {
      stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
