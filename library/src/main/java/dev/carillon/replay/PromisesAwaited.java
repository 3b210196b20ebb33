package dev.carillon.replay;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A wait for promises: for all, or for the first of them; for no longer than a timer; and for a
 * cancel.
 */
record PromisesAwaited(
    List<? extends ContextPromise<?>> promises, @Nullable TimerPromise timeout, boolean all)
    implements Awaited {

  /** What came first. */
  enum First {
    PROMISE,
    TIMEOUT,
    STOP
  }

  @Override
  public boolean isOver(History history, long nowMicros) {
    return history.isStopped()
        || position(history) != History.NONE
        || timeoutPosition(history) != History.NONE;
  }

  /** Where the promises came: the last of all, or the first. */
  int position(History history) {
    int found = History.NONE;
    for (ContextPromise<?> promise : promises) {
      int position = promise.position(history);
      if (position == History.NONE) {
        if (all) {
          return History.NONE;
        }
      } else if (found == History.NONE || (all ? position > found : position < found)) {
        found = position;
      }
    }
    return found;
  }

  private int timeoutPosition(History history) {
    return timeout == null ? History.NONE : timeout.position(history);
  }

  /** The promise that came at a position. */
  ContextPromise<?> at(History history, int position) {
    for (ContextPromise<?> promise : promises) {
      if (promise.position(history) == position) {
        return promise;
      }
    }
    throw new IllegalStateException("position " + position + ": of none of the promises");
  }

  /** What came first in the history; the wait is over. */
  First first(History history) {
    int here = before(position(history));
    int late = before(timeoutPosition(history));
    int stop = before(history.stopPosition());
    if (stop < here && stop < late) {
      return First.STOP;
    }
    return here < late ? First.PROMISE : First.TIMEOUT;
  }

  private static int before(int position) {
    return position == History.NONE ? Integer.MAX_VALUE : position;
  }

  @Override
  public List<TimerPromise> timers() {
    List<TimerPromise> timers = new ArrayList<>();
    for (ContextPromise<?> promise : promises) {
      if (promise instanceof TimerPromise timer) {
        timers.add(timer);
      }
    }
    if (timeout != null) {
      timers.add(timeout);
    }
    return timers;
  }

  /** Of those that have not come: nothing ends the wait for one that has. */
  @Override
  public void addTo(WaitList list, History history) {
    for (ContextPromise<?> promise : promises) {
      if (promise.position(history) == History.NONE) {
        promise.addTo(list);
      }
    }
    if (timeout != null) {
      timeout.addTo(list);
    }
    if (all) {
      list.all();
    }
  }
}
