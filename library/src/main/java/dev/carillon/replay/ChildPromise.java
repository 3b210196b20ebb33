package dev.carillon.replay;

import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.workflow.Child;
import dev.carillon.engine.job.HistoryEntry.ChildEnded;
import dev.carillon.engine.job.JobRef;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A child and its end. */
final class ChildPromise<O> extends ContextPromise<O> implements Child<O> {
  private final int call;
  private final Job<O> job;
  private @Nullable O value;
  private boolean decoded;

  ChildPromise(Context context, int call, Job<O> job) {
    super(context);
    this.call = call;
    this.job = job;
  }

  int call() {
    return call;
  }

  @Override
  public JobId id() {
    context.awaitStarted(this);
    return ref().id();
  }

  private JobRef ref() {
    return Objects.requireNonNull(context.history().recorded(call).child, "child");
  }

  boolean isStarted(History history) {
    return history.call(call) != null;
  }

  boolean isEnded(History history) {
    return position(history) != History.NONE;
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
  @SuppressWarnings({"unchecked", "NullAway"}) // decoded to the type; null where there is no result
  O taken() {
    ChildEnded end = context.history().recorded(call).childEnd();
    if (end.state() != JobState.SUCCEEDED) {
      throw new ChildFailedException(job.typeName(), ref().id(), end.state(), end.error());
    }
    if (!decoded) {
      value = (O) context.decoded(end.result(), job.outputType().type());
      decoded = true;
    }
    return value;
  }

  @Override
  void addTo(WaitList list) {
    list.child(call);
  }
}
