package dev.carillon.replay;

import java.util.Comparator;

/** A timer. */
final class TimerPromise extends ContextPromise<Void> {
  static final Comparator<TimerPromise> BY_TIME =
      Comparator.comparingLong(TimerPromise::dueAt).thenComparingInt(TimerPromise::call);

  private final int call;
  private final long dueAt;
  private boolean firing;

  TimerPromise(Context context, int call, long dueAt) {
    super(context);
    this.call = call;
    this.dueAt = dueAt;
  }

  int call() {
    return call;
  }

  long dueAt() {
    return dueAt;
  }

  /** It is to be written that it has fired; false where that was said before. */
  boolean fire() {
    boolean first = !firing;
    firing = true;
    return first;
  }

  @Override
  int position(History history) {
    RecordedCall recorded = history.call(call);
    return recorded == null ? History.NONE : recorded.endPosition;
  }

  @Override
  long at(History history) {
    return history.recorded(call).end().at();
  }

  @Override
  @SuppressWarnings("NullAway") // the one value of its type
  Void taken() {
    return null;
  }

  @Override
  void addTo(WaitList list) {
    list.until(dueAt);
  }
}
