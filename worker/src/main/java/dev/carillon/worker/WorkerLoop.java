package dev.carillon.worker;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that owns a worker's state: takes events in their order, gives the time with each, and
 * has done what is due.
 */
final class WorkerLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(CarillonWorker.class);
  private static final int EVENTS_A_TURN = 1_000;

  private final Queue<LongConsumer> events = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean sleeps = new AtomicBoolean();
  private final Thread thread;
  private final Turn turn;
  private volatile boolean stopping;

  /** Does what is due; returns how long nothing will be. */
  @FunctionalInterface
  interface Turn {
    long at(long nowNanos);
  }

  WorkerLoop(String name, boolean daemon, Turn turn) {
    this.turn = turn;
    this.thread = Thread.ofPlatform().name(name).daemon(daemon).unstarted(this);
  }

  void start() {
    thread.start();
  }

  /** Has an event happen, which is told the time. */
  void post(LongConsumer event) {
    events.add(event);
    if (sleeps.compareAndSet(true, false)) {
      LockSupport.unpark(thread);
    }
  }

  /** Ends the thread after what was posted before. */
  void stop() {
    stopping = true;
    post(now -> {});
  }

  @Override
  public void run() {
    while (!stopping || !events.isEmpty()) {
      long sleep = 1;
      try {
        takeEvents();
        sleep = turn.at(System.nanoTime());
      } catch (Throwable e) {
        LOG.warn("the worker's loop failed and goes on", e);
        sleep = 10_000_000;
      }
      sleeps.set(true);
      if (events.isEmpty()) {
        LockSupport.parkNanos(this, sleep);
      }
      sleeps.set(false);
    }
  }

  private void takeEvents() {
    for (int i = 0; i < EVENTS_A_TURN; i++) {
      LongConsumer event = events.poll();
      if (event == null) {
        return;
      }
      try {
        event.accept(System.nanoTime());
      } catch (Throwable e) {
        LOG.warn("an event of the worker failed", e);
      }
    }
  }
}
