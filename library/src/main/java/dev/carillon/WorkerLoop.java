package dev.carillon;

import java.time.Duration;

/**
 * A daemon thread that lets events happen in order, one at a time, and outlives what they throw.
 */
final class WorkerLoop {
  private static final long SLEEP_NANOS = 10_000_000_000L;
  private static final long IDLE = Long.MIN_VALUE;

  private final Thread thread;
  private final Mailbox mailbox;
  private final Reports reports;
  private volatile boolean stopping;
  private volatile long busySinceNanos = IDLE;

  WorkerLoop(String name, Reports reports) {
    this.reports = reports;
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    this.mailbox = new Mailbox(thread);
  }

  void start() {
    thread.start();
  }

  void post(Event event) {
    mailbox.post(event);
  }

  /** Ends the thread once it has done what was posted before. */
  void stop() {
    stopping = true;
    mailbox.wake();
  }

  /** Waits for the thread to end; at most for the limit. */
  void awaitEnd(Duration limit) throws InterruptedException {
    var unused = thread.join(limit);
  }

  boolean isStopping() {
    return stopping;
  }

  /** How long the current event has been happening; 0 where none is. */
  long busyNanos() {
    long since = busySinceNanos;
    return since == IDLE ? 0 : Math.max(1, System.nanoTime() - since);
  }

  private void run() {
    while (true) {
      Event event = mailbox.poll();
      if (event != null) {
        happen(event);
      } else if (stopping) {
        return;
      } else {
        mailbox.sleep(SLEEP_NANOS);
      }
    }
  }

  private void happen(Event event) {
    busySinceNanos = System.nanoTime();
    try {
      event.happen();
    } catch (Throwable e) {
      reports.report(thread.getName() + ": " + event.getClass().getSimpleName() + " failed", e);
    } finally {
      busySinceNanos = IDLE;
    }
  }
}
