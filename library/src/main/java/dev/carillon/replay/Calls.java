package dev.carillon.replay;

import dev.carillon.api.error.WorkflowCancelledException;
import dev.carillon.api.workflow.WorkflowUnwound;
import dev.carillon.engine.environment.AttemptOutcome;
import org.jspecify.annotations.Nullable;

/**
 * Numbers the calls of the code, from 1, and compares each with the history. Knows how far the code
 * has come, whether it was told that the workflow is stopped, and what the run ends with where a
 * call decides that. Of the workflow's thread.
 */
final class Calls {
  private final WorkflowRun run;
  private final History history;

  private volatile Cursor cursor = new Cursor(History.NONE, 0);
  private int made;
  private String lastCall = "";

  /** A call has thrown that the workflow is stopped: every other does too. */
  private boolean stopThrown;

  private @Nullable AttemptOutcome outcome;

  Calls(WorkflowRun run) {
    this.run = run;
    this.history = run.history();
  }

  /** Before the first call. */
  void begin(long beganMicros) {
    cursor = new Cursor(history.lastOwn(), beganMicros);
  }

  Cursor cursor() {
    return cursor;
  }

  /** The number of the last call. */
  int made() {
    return made;
  }

  /** What the run ends with whatever the handler does; null where that decides. */
  @Nullable AttemptOutcome outcome() {
    return outcome;
  }

  /** Ends the run here. */
  WorkflowUnwound end(AttemptOutcome with) {
    outcome = with;
    return new WorkflowUnwound("the run is over");
  }

  WorkflowUnwound diverged(int number, String actual) {
    return end(Divergence.at(history, number, actual, lastCall));
  }

  /** Whether the history has calls that the code did not make; says so as its outcome. */
  boolean endTooEarly(String how) {
    if (!history.goesOnAfter(made)) {
      return false;
    }
    outcome = Divergence.at(history, made + 1, how, lastCall);
    return true;
  }

  // ---- stopped

  /** What a call throws once the workflow is stopped: all that it passed before is durable. */
  WorkflowCancelledException stopped() {
    if (!stopThrown) {
      stopThrown = true;
      run.writeKept();
      cursor.given(history.stopPosition(), history.stop().at());
    }
    return new WorkflowCancelledException(history.stopReason());
  }

  void requireNotStopped() {
    if (stopThrown) {
      throw stopped();
    }
  }

  // ---- the next call

  /**
   * Takes the next number for a call that leaves an entry; what is recorded of it, or null. Once
   * the workflow is stopped a call that waits throws. Others do not: where they came before the
   * stop they may have left nothing durable, and the code must not see a difference.
   */
  @Nullable RecordedCall leaving(CallKind kind, String name) {
    RecordedCall recorded = fitting(kind, name);
    if (recorded == null) {
      if (goesOn()) {
        throw diverged(made + 1, kind.describe(name));
      }
      awaitNoPause();
      if (kind == CallKind.STEP && history.isStopped()) {
        throw stopped();
      }
    } else if (kind == CallKind.STEP && !recorded.isEnded() && goesOn()) {
      throw diverged(made + 1, kind.describe(name) + ", which has no end");
    } else {
      cursor.created(recorded.position);
    }
    number(kind, name);
    return recorded;
  }

  /** Before something new: where a pause is asked for the activation ends. */
  void awaitNoPause() {
    if (run.awaitNoPause()) {
      cursor.live();
    }
  }

  /** What is recorded of the next call, which must be of that kind and name; null for nothing. */
  @Nullable RecordedCall fitting(CallKind kind, String name) {
    requireNotStopped();
    RecordedCall recorded = history.call(made + 1);
    if (recorded != null && !recorded.is(kind, name)) {
      throw diverged(made + 1, kind.describe(name));
    }
    return recorded;
  }

  /** Whether the code had passed the next call before, by what is recorded behind it. */
  boolean goesOn() {
    return history.goesOnAfter(made + 1);
  }

  /** Whether the next call is recorded, or was passed, and is not of that kind and name. */
  boolean passedWithout(CallKind kind, String name) {
    RecordedCall recorded = history.call(made + 1);
    return recorded != null ? !recorded.is(kind, name) : goesOn();
  }

  /** Takes the next number. */
  int number(CallKind kind, String name) {
    lastCall = kind.describe(name);
    return ++made;
  }
}
