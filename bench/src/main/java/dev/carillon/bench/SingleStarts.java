package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Single jobs on an idle system, one by Carillon and one by a {@link ScheduledThreadPoolExecutor}
 * in turn, both due at a time of the wall clock and both timed by it.
 */
final class SingleStarts {
  private static final TaskType<Long> TICK = TaskType.of("tick", Long.class);
  private static final int WARM_UP = 50_000;
  private static final int WARM_UP_AT_ONCE = 500;
  private static final long SPREAD_MICROS = 49_000;

  private final Carillon carillon;
  private final long leastAheadMicros;
  private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
  private final BlockingQueue<Long> started = new LinkedBlockingQueue<>();
  private final SplittableRandom random = new SplittableRandom(42);
  private Samples carillonLateness = new Samples();
  private Samples executorLateness = new Samples();

  /**
   * Nothing has started yet.
   *
   * @param leastAheadMicros how far ahead jobs are due at the least: longer than a commit takes, or
   *     it is the commit that is measured
   */
  SingleStarts(Carillon carillon, long leastAheadMicros) {
    this.carillon = carillon;
    this.leastAheadMicros = leastAheadMicros;
    carillon.handle(TICK, (dueMicros, job) -> started.add(WallClock.nanosSince(dueMicros)));
    executor.prestartAllCoreThreads();
  }

  /** Many through both, as in a program that has run for a while: it is not the compiler's time. */
  void warmUp() throws InterruptedException {
    for (int i = 0; i < WARM_UP; i += WARM_UP_AT_ONCE) {
      for (int k = 0; k < WARM_UP_AT_ONCE; k++) {
        long now = WallClock.micros();
        var unused = carillon.scheduleAsync(TICK.job(now).at(WallClock.instant(now)));
        var ignored =
            executor.schedule(
                () -> started.add(WallClock.nanosSince(now)), 0, TimeUnit.NANOSECONDS);
      }
      for (int k = 0; k < 2 * WARM_UP_AT_ONCE; k++) {
        started.take();
      }
    }
  }

  void run(int each) throws InterruptedException {
    for (int i = 0; i < each; i++) {
      carillonLateness.add(byCarillon(nextDueMicros()));
      executorLateness.add(byExecutor(nextDueMicros()));
    }
  }

  private long nextDueMicros() {
    return WallClock.micros() + leastAheadMicros + random.nextLong(SPREAD_MICROS);
  }

  private long byCarillon(long dueMicros) throws InterruptedException {
    Instant due = WallClock.instant(dueMicros);
    var unused = carillon.schedule(TICK.job(dueMicros).at(due));
    return started.take();
  }

  private long byExecutor(long dueMicros) throws InterruptedException {
    var unused =
        executor.schedule(
            () -> started.add(WallClock.nanosSince(dueMicros)),
            -WallClock.nanosSince(dueMicros),
            TimeUnit.NANOSECONDS);
    return started.take();
  }

  void forget() {
    carillonLateness = new Samples();
    executorLateness = new Samples();
  }

  void stop() {
    executor.shutdownNow();
  }

  Samples carillon() {
    return carillonLateness;
  }

  Samples executor() {
    return executorLateness;
  }
}
