package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Schedules a number of jobs and keeps the ids of a few, chosen at random. */
final class Fill {
  private static final int IN_FLIGHT = 16_384;
  private static final int PROGRESS_PERCENT = 10;
  private static final long PROGRESS_FROM = 100_000;

  private final Carillon carillon;
  private final Report report;
  private final Semaphore free = new Semaphore(IN_FLIGHT);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final SplittableRandom random = new SplittableRandom(11);
  private final List<String> kept = new ArrayList<>();
  private double perSecond;

  Fill(Carillon carillon, Report report) {
    this.carillon = carillon;
    this.report = report;
  }

  /** Schedules them and waits until all are acknowledged; keeps about {@code ids} of their ids. */
  void run(long jobs, int ids, LongFunction<Job<Void>> job) throws InterruptedException {
    long start = System.nanoTime();
    long step = Math.max(1, jobs * PROGRESS_PERCENT / 100);
    for (long i = 0; i < jobs && failure.get() == null; i++) {
      boolean keep = ids > 0 && random.nextLong(jobs) < ids;
      free.acquire();
      var unused =
          carillon
              .scheduleAsync(job.apply(i))
              .whenComplete((done, thrown) -> answered(done, thrown, keep));
      if (jobs >= PROGRESS_FROM && (i + 1) % step == 0) {
        report.progress("%,d jobs scheduled".formatted(i + 1));
      }
    }
    free.acquire(IN_FLIGHT);
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("scheduling failed", thrown);
    }
    perSecond = jobs / ((System.nanoTime() - start) / 1e9);
  }

  private void answered(@Nullable JobHandle<Void> job, @Nullable Throwable thrown, boolean keep) {
    if (thrown != null) {
      failure.compareAndSet(null, thrown);
    } else if (job != null && keep) {
      synchronized (kept) {
        kept.add(job.id().value());
      }
    }
    free.release();
  }

  double perSecond() {
    return perSecond;
  }

  /** The ids it kept, in random order. */
  List<String> kept() {
    synchronized (kept) {
      List<String> shuffled = new ArrayList<>(kept);
      Collections.shuffle(shuffled, new Random(random.nextLong()));
      return shuffled;
    }
  }
}
