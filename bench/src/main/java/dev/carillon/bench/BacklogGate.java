package dev.carillon.bench;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Holds producers back while the backlog is full. One thread looks, so that they need not. */
final class BacklogGate {
  private static final long LOOK_AGAIN_NANOS = 1_000_000;

  private final BooleanSupplier isFull;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile boolean full;
  private volatile boolean open;

  BacklogGate(BooleanSupplier isFull) {
    this.isFull = isFull;
  }

  void start() {
    Thread.ofPlatform().daemon().name("backlog").start(this::look);
  }

  private void look() {
    while (!open) {
      boolean now = isFull.getAsBoolean();
      if (now != full) {
        set(now);
      }
      LockSupport.parkNanos(LOOK_AGAIN_NANOS);
    }
    set(false);
  }

  private void set(boolean now) {
    lock.lock();
    try {
      full = now;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for room. */
  void pass() {
    if (!full) {
      return;
    }
    lock.lock();
    try {
      while (full) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Lets everybody through from now on. */
  void open() {
    open = true;
  }
}
