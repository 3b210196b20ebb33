package dev.carillon.replay;

import dev.carillon.api.workflow.Promise;
import java.time.Duration;
import java.util.Optional;

/** A promise of a workflow's context. Of the workflow's thread. */
abstract sealed class ContextPromise<T> implements Promise<T>
    permits StepPromise, TimerPromise, SignalPromise, ChildPromise {
  final Context context;

  ContextPromise(Context context) {
    this.context = context;
  }

  /** Where what it is for stands in the history; {@link History#NONE} while it does not. */
  abstract int position(History history);

  /** When that came to be. */
  abstract long at(History history);

  /** The value, or what is thrown instead; once the history has it. */
  abstract T taken();

  /** Adds it to what the node is told of a wait. */
  abstract void addTo(WaitList list);

  @Override
  public T join() {
    return context.join(this);
  }

  @Override
  public Optional<T> join(Duration atMost) {
    return context.join(this, atMost);
  }
}
