package dev.carillon.simulator;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What is going to happen, in order of virtual time, then of being asked for. */
final class EventQueue {
  private static final int FIRST_CAPACITY = 256;

  private long[] times = new long[FIRST_CAPACITY];
  private long[] orders = new long[FIRST_CAPACITY];
  private @Nullable Runnable[] actions = new @Nullable Runnable[FIRST_CAPACITY];
  private int size;
  private long asked;

  void at(long nanos, Runnable action) {
    if (size == times.length) {
      times = Arrays.copyOf(times, size * 2);
      orders = Arrays.copyOf(orders, size * 2);
      actions = Arrays.copyOf(actions, size * 2);
    }
    long order = asked++;
    int at = size++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (times[parent] <= nanos) {
        break;
      }
      move(parent, at);
      at = parent;
    }
    set(at, nanos, order, action);
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** When the next event is, {@link Long#MAX_VALUE} where there is none. */
  long nextNanos() {
    return size == 0 ? Long.MAX_VALUE : times[0];
  }

  /** Takes the next event out. */
  Runnable poll() {
    Runnable first = actions[0];
    if (first == null) {
      throw new IllegalStateException("event queue: empty (expected: an event)");
    }
    size--;
    long nanos = times[size];
    long order = orders[size];
    Runnable last = actions[size];
    actions[size] = null;
    if (size > 0 && last != null) {
      siftDown(nanos, order, last);
    }
    return first;
  }

  private void siftDown(long nanos, long order, Runnable action) {
    int at = 0;
    int half = size >>> 1;
    while (at < half) {
      int child = 2 * at + 1;
      if (child + 1 < size && before(child + 1, times[child], orders[child])) {
        child++;
      }
      if (!before(child, nanos, order)) {
        break;
      }
      move(child, at);
      at = child;
    }
    set(at, nanos, order, action);
  }

  private boolean before(int i, long nanos, long order) {
    return times[i] < nanos || (times[i] == nanos && orders[i] < order);
  }

  private void move(int from, int to) {
    times[to] = times[from];
    orders[to] = orders[from];
    actions[to] = actions[from];
  }

  private void set(int at, long nanos, long order, Runnable action) {
    times[at] = nanos;
    orders[at] = order;
    actions[at] = action;
  }
}
