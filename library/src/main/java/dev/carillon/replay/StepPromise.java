package dev.carillon.replay;

import org.jspecify.annotations.Nullable;

/** The result of a step that was started beside the code. */
final class StepPromise<T> extends ContextPromise<T> {
  private final StepCall call;
  private @Nullable T value;
  private boolean decoded;

  StepPromise(Context context, StepCall call) {
    super(context);
    this.call = call;
  }

  @Override
  int position(History history) {
    RecordedCall recorded = history.call(call.number());
    return recorded == null ? History.NONE : recorded.endPosition;
  }

  @Override
  long at(History history) {
    return history.recorded(call.number()).end().at();
  }

  @Override
  @SuppressWarnings({"unchecked", "NullAway"}) // decoded to the type; null where the body said so
  T taken() {
    if (!decoded) {
      value = (T) context.stepResult(call);
      decoded = true;
    }
    return value;
  }

  @Override
  void addTo(WaitList list) {} // the run knows when its next try is due
}
