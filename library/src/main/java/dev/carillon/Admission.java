package dev.carillon;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Bounds what waits for the store: a number of jobs and of bytes. Callers enter before they post
 * and the loop lets them leave once they are answered.
 *
 * <p>Both counts are one number, jobs above {@link #BYTE_BITS} bits and bytes below, so that
 * entering is one addition.
 */
final class Admission {
  private static final int BYTE_BITS = 40;
  private static final long BYTE_MASK = (1L << BYTE_BITS) - 1;

  private final int maxJobs;
  private final long maxBytes;
  private final AtomicLong inside = new AtomicLong();
  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();

  Admission(int maxJobs, long maxBytes) {
    this.maxJobs = maxJobs;
    this.maxBytes = maxBytes;
  }

  /** What {@code jobs} of {@code bytes} together count. */
  static long weight(int jobs, long bytes) {
    return (long) jobs << BYTE_BITS | Math.min(bytes, BYTE_MASK >> 1);
  }

  /** Enters if there is room, or if nothing is inside: a batch over the limit goes alone. */
  boolean tryEnter(long weight) {
    // Never more than what is really inside: a moment's too much would turn others away for
    // nothing.
    while (true) {
      long before = inside.get();
      if (before != 0 && !fits(before + weight)) {
        return false;
      }
      if (inside.weakCompareAndSetVolatile(before, before + weight)) {
        return true;
      }
    }
  }

  /** Waits for room until {@code deadlineNanos} of {@link System#nanoTime()}. */
  boolean enter(long weight, long deadlineNanos) throws InterruptedException {
    Thread self = Thread.currentThread();
    while (!tryEnter(weight)) {
      waiting.add(self);
      if (tryEnter(weight)) {
        waiting.remove(self);
        return true;
      }
      long left = deadlineNanos - System.nanoTime();
      if (left > 0) {
        LockSupport.parkNanos(this, left);
      }
      waiting.remove(self);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (deadlineNanos - System.nanoTime() <= 0) {
        return tryEnter(weight);
      }
    }
    return true;
  }

  /** Lets as many waiting callers try again as were let out. */
  void leave(long weight) {
    inside.addAndGet(-weight);
    if (waiting.isEmpty()) {
      return;
    }
    for (long i = Math.max(1, jobs(weight)); i > 0; i--) {
      Thread next = waiting.poll();
      if (next == null) {
        return;
      }
      LockSupport.unpark(next);
    }
  }

  private boolean fits(long total) {
    return jobs(total) <= maxJobs && (total & BYTE_MASK) <= maxBytes;
  }

  private static long jobs(long weight) {
    return weight >>> BYTE_BITS;
  }

  long jobs() {
    return jobs(inside.get());
  }

  long bytes() {
    return inside.get() & BYTE_MASK;
  }

  String limits() {
    return maxJobs + " jobs and " + maxBytes + " bytes";
  }
}
