package dev.carillon.engine.environment;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Actions by time of the monotonic clock, in order of time, then of being asked for. A cancelled
 * one lets go of its action at once and is swept out once such are the larger part.
 */
public final class Timers {
  private static final int SWEEP_FROM = 64;

  private final PriorityQueue<Timer> queue = new PriorityQueue<>();
  private long asked;
  private int cancelled;

  /** An action to come. */
  public static final class Timer implements Comparable<Timer> {
    private final long nanos;
    private final long order;
    private @Nullable Runnable action;

    private Timer(long nanos, long order, Runnable action) {
      this.nanos = nanos;
      this.order = order;
      this.action = action;
    }

    /** Whether it has run or was cancelled. */
    public boolean isOver() {
      return action == null;
    }

    /** Whether it is not to run by then: later, or not any more. */
    public boolean isAfter(long otherNanos) {
      return action == null || nanos - otherNanos > 0;
    }

    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(nanos - other.nanos, 0);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  public Timer at(long nanos, Runnable action) {
    Timer timer = new Timer(nanos, asked++, action);
    queue.add(timer);
    return timer;
  }

  public void cancel(@Nullable Timer timer) {
    if (timer == null || timer.action == null) {
      return;
    }
    timer.action = null;
    if (++cancelled > SWEEP_FROM && cancelled > queue.size() / 2) {
      queue.removeIf(each -> each.action == null);
      cancelled = 0;
    }
  }

  /** How long until the next one; not negative. */
  public long nanosToNext(long now) {
    Timer next = queue.peek();
    while (next != null && next.action == null) {
      queue.remove();
      cancelled--;
      next = queue.peek();
    }
    return next == null ? Long.MAX_VALUE : Math.max(0, next.nanos - now);
  }

  public void run(long now) {
    for (Timer next = queue.peek(); next != null && next.nanos - now <= 0; next = queue.peek()) {
      queue.remove();
      Runnable action = next.action;
      next.action = null;
      if (action == null) {
        cancelled--;
      } else {
        action.run();
      }
    }
  }
}
