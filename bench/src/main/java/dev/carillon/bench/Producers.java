package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import java.util.ArrayList;
import java.util.List;
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
  private static final long LOOK_AGAIN_NANOS = 50_000;

  private final Carillon carillon;
  private final Crowd crowd;
  private final LongFunction<Job<Void>> jobs;
  private final LongSupplier ran;
  private final AtomicLong numbers = new AtomicLong();
  private final LongAdder acknowledged = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();
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
    void check(RunOptions options) {
      options.positive("--producers", threads);
      options.positive("--in-flight", inFlight);
      options.positive("--backlog", backlog);
      options.positive("--slots", slots);
    }

    String text() {
      return mode == Mode.BLOCKING
          ? threads + " virtual threads, schedule()"
          : threads + " threads, scheduleAsync(), " + inFlight + " jobs on their way";
    }
  }

  /**
   * Producers that have not started.
   *
   * @param crowd who they are
   * @param jobs makes the job of a number
   * @param ran how many have run
   */
  Producers(Carillon carillon, Crowd crowd, LongFunction<Job<Void>> jobs, LongSupplier ran) {
    this.carillon = carillon;
    this.crowd = crowd;
    this.jobs = jobs;
    this.ran = ran;
  }

  void start() {
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

  /** The next number, once the backlog has room; looked at now and then. */
  private long next() {
    long number = numbers.getAndIncrement();
    if (number % LOOK_EVERY == 0) {
      while (!stopping && acknowledged() - ran.getAsLong() > crowd.backlog()) {
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
    Window window = new Window(inFlight);
    try {
      while (!stopping) {
        Job<Void> job = jobs.apply(next());
        window.enter();
        var unused =
            carillon
                .scheduleAsync(job)
                .whenComplete((handle, thrown) -> answered(handle, thrown, window));
      }
    } catch (RuntimeException e) {
      failed(e);
      return; // the job whose call threw has no answer
    }
    window.drain();
  }

  private void answered(@Nullable JobHandle<Void> job, @Nullable Throwable thrown, Window window) {
    if (job != null) {
      acknowledged.increment();
    } else if (thrown != null) {
      failed(thrown);
    }
    window.leave();
  }

  private void failed(Throwable thrown) {
    failure.compareAndSet(null, thrown);
    stopping = true;
  }
}
