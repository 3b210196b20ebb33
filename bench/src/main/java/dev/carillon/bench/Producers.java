package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Schedules jobs, one call each, as fast as they are acknowledged. {@link Mode#BLOCKING} is a
 * service whose requests each schedule a job and wait for it: many virtual threads. {@link
 * Mode#ASYNC} is a reader of a stream that keeps a number of jobs on their way: a few threads.
 */
final class Producers {
  private static final int LOOK_EVERY = 64;
  private static final long LOOK_AGAIN_NANOS = 200_000;

  private final Carillon carillon;
  private final LongFunction<Job<Void>> jobs;
  private final LongSupplier ran;
  private final AtomicLong numbers = new AtomicLong();
  private final LongAdder acknowledged = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile int backlog;
  private volatile boolean stopping;

  /** How jobs are scheduled. */
  enum Mode {
    BLOCKING,
    ASYNC
  }

  /**
   * How many.
   *
   * @param threads that schedule
   * @param inFlight jobs on their way at once, over all threads; as many as threads when blocking
   * @param backlog jobs that may be scheduled and not have run; producers wait while there are more
   * @param slots attempts that may run at once
   */
  record Crowd(Mode mode, int threads, int inFlight, int backlog, int slots) {
    String text() {
      return mode == Mode.BLOCKING
          ? threads + " virtual threads, schedule()"
          : threads + " threads, scheduleAsync(), " + inFlight + " jobs on their way";
    }
  }

  /**
   * Producers that have not started.
   *
   * @param jobs makes the job of a number
   * @param ran how many have run
   */
  Producers(Carillon carillon, LongFunction<Job<Void>> jobs, LongSupplier ran) {
    this.carillon = carillon;
    this.jobs = jobs;
    this.ran = ran;
  }

  void start(Crowd crowd) {
    backlog = crowd.backlog();
    for (int i = 0; i < crowd.threads(); i++) {
      Runnable work =
          crowd.mode() == Mode.BLOCKING
              ? this::block
              : () -> keepOnTheirWay(Math.max(1, crowd.inFlight() / crowd.threads()));
      threads.add(
          crowd.mode() == Mode.BLOCKING
              ? Thread.ofVirtual().name("producer").start(work)
              : Thread.ofPlatform().name("producer").daemon().start(work));
    }
  }

  /** Jobs acknowledged so far. */
  long acknowledged() {
    return acknowledged.sum();
  }

  /** Stops and waits for the last answers; throws what a call threw. */
  void stop() throws InterruptedException {
    stopping = true;
    for (Thread thread : threads) {
      thread.join();
    }
    check();
  }

  void check() {
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("scheduling failed", thrown);
    }
  }

  /** The next number, once the backlog has room. */
  private long next() {
    long number = numbers.getAndIncrement();
    // Adding up is not for every job.
    if (number % LOOK_EVERY == 0) {
      while (acknowledged.sum() - ran.getAsLong() > backlog && !stopping) {
        LockSupport.parkNanos(LOOK_AGAIN_NANOS);
      }
    }
    return number;
  }

  private void block() {
    try {
      while (!stopping) {
        var unused = carillon.schedule(jobs.apply(next()));
        acknowledged.increment();
      }
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  private void keepOnTheirWay(int inFlight) {
    Semaphore free = new Semaphore(inFlight);
    try {
      while (!stopping) {
        free.acquireUninterruptibly();
        var unused =
            carillon
                .scheduleAsync(jobs.apply(next()))
                .whenComplete((job, thrown) -> answered(job, thrown, free));
      }
    } catch (RuntimeException e) {
      failed(e);
    }
    free.acquireUninterruptibly(inFlight);
  }

  private void answered(@Nullable JobHandle<Void> job, @Nullable Throwable thrown, Semaphore free) {
    if (job != null) {
      acknowledged.increment();
    } else if (thrown != null) {
      failed(thrown);
    }
    free.release();
  }

  private void failed(Throwable thrown) {
    failure.compareAndSet(null, thrown);
    stopping = true;
  }
}
