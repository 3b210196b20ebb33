package dev.carillon.server.operate;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An answer that many may share for a moment, so that fifty open pages cost as much as one. Whoever
 * asks while it is being made waits for it. Thread-safe.
 */
final class Recent<T> {
  private final Supplier<T> source;
  private final long freshNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable T last;
  private long madeNanos;

  Recent(Duration fresh, Supplier<T> source) {
    this.freshNanos = fresh.toNanos();
    this.source = source;
  }

  T get() {
    lock.lock();
    try {
      T known = last;
      if (known == null || System.nanoTime() - madeNanos >= freshNanos) {
        long began = System.nanoTime(); // it is as old as the look, not as the answer
        known = source.get();
        last = known;
        madeNanos = began;
      }
      return known;
    } finally {
      lock.unlock();
    }
  }

  /** Something changed that whoever changed it wants to see. */
  void forget() {
    lock.lock();
    try {
      last = null;
    } finally {
      lock.unlock();
    }
  }
}
