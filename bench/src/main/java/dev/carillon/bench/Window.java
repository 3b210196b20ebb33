package dev.carillon.bench;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How many jobs of one producer may be on their way at once. A producer that has to wait is woken
 * once, when half of them are answered, and not by every answer: what is measured is the scheduler.
 */
final class Window {
  private final int size;
  private final AtomicLong answered = new AtomicLong();
  private long sent;

  /** Who waits, and for how many answers; the second is read after the first. */
  private volatile @Nullable Thread waiting;

  private volatile long wakeAt;

  Window(int size) {
    this.size = size;
  }

  /** Waits until another may be sent; on the producer's thread. */
  void enter() {
    if (sent - answered.get() >= size) {
      awaitAnswers(sent - size / 2);
    }
    sent++;
  }

  /** Waits until everything sent is answered; on the producer's thread. */
  void drain() {
    awaitAnswers(sent);
  }

  private void awaitAnswers(long count) {
    wakeAt = count;
    waiting = Thread.currentThread();
    while (answered.get() < count) {
      LockSupport.park(this);
    }
    waiting = null;
  }

  /** One of them is answered; any thread. */
  void leave() {
    long now = answered.incrementAndGet();
    Thread sleeper = waiting;
    if (sleeper != null && now == wakeAt) {
      LockSupport.unpark(sleeper);
    }
  }
}
