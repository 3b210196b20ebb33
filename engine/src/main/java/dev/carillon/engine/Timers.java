package dev.carillon.engine;

import java.util.PriorityQueue;

/** Actions by time of the monotonic clock, in order of time, then of being asked for. */
final class Timers {
  private final PriorityQueue<Timer> queue = new PriorityQueue<>();
  private long asked;

  private record Timer(long nanos, long order, Runnable action) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(nanos - other.nanos, 0);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  void at(long nanos, Runnable action) {
    queue.add(new Timer(nanos, asked++, action));
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** How long until the next one; not negative. */
  long nanosToNext(long now) {
    Timer next = queue.peek();
    return next == null ? Long.MAX_VALUE : Math.max(0, next.nanos() - now);
  }

  void run(long now) {
    for (Timer next = queue.peek(); next != null && next.nanos() - now <= 0; next = queue.peek()) {
      queue.remove();
      next.action().run();
    }
  }
}
