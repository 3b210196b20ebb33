package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Jobs at a steady rate, each due a little ahead; how late each of them starts. */
final class PacedStarts {
  private static final TaskType<Paced> PACED = TaskType.of("paced", Paced.class);
  private static final long LEAST_AHEAD_MICROS = 20_000;
  private static final long MOST_AHEAD_MICROS = 200_000;
  private static final long SLICE_NANOS = 1_000_000;
  private static final int IN_FLIGHT = 50_000;

  private final Carillon carillon;
  private final int rate;
  private final SplittableRandom random = new SplittableRandom(7);
  private final Semaphore free = new Semaphore(IN_FLIGHT);
  private final AtomicInteger recorded = new AtomicInteger();
  private long[] lateness = {};
  private double perSecond;

  /** A job: its time, and whether it counts. */
  record Paced(long dueMicros, boolean measured, Order order) {}

  PacedStarts(Carillon carillon, int rate) {
    this.carillon = carillon;
    this.rate = rate;
    carillon.handle(PACED, (paced, job) -> record(paced));
  }

  private void record(Paced paced) {
    long late = WallClock.nanosSince(paced.dueMicros);
    if (paced.measured) {
      lateness[recorded.getAndIncrement()] = late;
    }
  }

  void run(int warmupSeconds, int seconds) throws InterruptedException {
    lateness = new long[rate * seconds];
    recorded.set(0);
    schedule(rate * warmupSeconds, false);
    long start = System.nanoTime();
    schedule(lateness.length, true);
    perSecond = lateness.length / ((System.nanoTime() - start) / 1e9);
    free.acquire(IN_FLIGHT); // all are accepted
    free.release(IN_FLIGHT);
    for (int i = 0; i < 600 && recorded.get() < lateness.length; i++) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
    if (recorded.get() < lateness.length) {
      throw new IllegalStateException(
          "started: " + recorded.get() + " (expected: " + lateness.length + ")");
    }
  }

  /** By the clock: what a pause held up is made up for. */
  private void schedule(int jobs, boolean measured) throws InterruptedException {
    long start = System.nanoTime();
    int done = 0;
    while (done < jobs) {
      long target = Math.min(jobs, (System.nanoTime() - start) * rate / 1_000_000_000L);
      for (; done < target; done++) {
        scheduleOne(done, measured);
      }
      LockSupport.parkNanos(SLICE_NANOS);
    }
  }

  private void scheduleOne(int number, boolean measured) throws InterruptedException {
    free.acquire();
    long due = WallClock.micros() + random.nextLong(LEAST_AHEAD_MICROS, MOST_AHEAD_MICROS);
    Paced paced = new Paced(due, measured, Order.of(number));
    var unused =
        carillon
            .scheduleAsync(PACED.job(paced).at(WallClock.instant(due)))
            .whenComplete((job, thrown) -> free.release());
  }

  Samples lateness() {
    Samples samples = new Samples();
    for (int i = 0; i < recorded.get(); i++) {
      samples.add(lateness[i]);
    }
    return samples;
  }

  /** The rate at which they were scheduled. */
  double perSecond() {
    return perSecond;
  }
}
