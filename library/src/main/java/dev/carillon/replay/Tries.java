package dev.carillon.replay;

import dev.carillon.api.JobError;
import dev.carillon.api.workflow.WorkflowUnwound;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.StepBegun;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the tries of steps that run on the workflow's thread, until one has an end. */
final class Tries {
  private final WorkflowRun run;
  private final WorkflowHost host;
  private volatile boolean inBody;

  Tries(WorkflowRun run, WorkflowHost host) {
    this.run = run;
    this.host = host;
  }

  /** Whether the workflow's thread runs the body of a step. Any thread may ask. */
  boolean isInBody() {
    return inBody;
  }

  /**
   * What made a step end here.
   *
   * @param value its result, decoded
   */
  record Made(RecordedCall call, @Nullable Object value, boolean here) {}

  /**
   * Goes on until the step has an end, or the workflow is stopped before the next try.
   *
   * @param stoppable whether a cancel stops it
   * @return null where it was stopped
   */
  @Nullable Made toItsEnd(StepCall step, boolean stoppable) {
    History history = run.history();
    Object value = null;
    boolean here = false;
    while (true) {
      run.look();
      RecordedCall recorded = history.call(step.number());
      if (recorded != null && recorded.isEnded()) {
        return new Made(recorded, value, here);
      }
      if (stoppable && history.isStopped()) {
        return null;
      }
      if (recorded != null && recorded.nextAt > host.wallMicros()) {
        run.await(Awaited.time(recorded.nextAt, stoppable));
        continue;
      }
      if (run.awaitNoPause()) {
        continue;
      }
      run.started().launchDue();
      StepTry next = next(step, recorded);
      if (recorded != null && recorded.isOpen) {
        run.write(cutOff(next));
        continue;
      }
      if (step.options().isAtMostOnce()) {
        run.write(new StepBegun(host.wallMicros(), step.number(), step.name(), next.attempt()));
        if (run.activation().pauseRequested()) {
          run.write(putOff(next));
          continue;
        }
      }
      HistoryEntry entry = make(next);
      value = next.value();
      here = true;
      run.write(entry);
    }
  }

  private HistoryEntry make(StepTry next) {
    inBody = true;
    HistoryEntry entry;
    try {
      entry = next.make();
    } finally {
      inBody = false;
    }
    if (run.isUnwinding()) {
      throw new WorkflowUnwound("interrupted in a step");
    }
    return entry;
  }

  /** The next try of a step. */
  StepTry next(StepCall step, @Nullable RecordedCall recorded) {
    int number = recorded == null ? 1 : recorded.tries + 1;
    long due = recorded == null ? 0 : recorded.nextAt;
    return new StepTry(run, host, step, number, due);
  }

  /** The end of a step at most once of which a try was cut off. */
  HistoryEntry cutOff(StepTry open) {
    long now = host.wallMicros();
    String message =
        "try %d was cut off and may have had its effect (expected: a result; the step is at most once)"
            .formatted(open.attempt());
    JobError error = new JobError(CUT_OFF, message, "");
    return open.failure(now, now, error, List.of(CUT_OFF), StepRetries.NONE);
  }

  /**
   * The try of a step at most once did not begin: its workflow was paused while the beginning was
   * written. It does not count, and is made once the workflow goes on.
   */
  HistoryEntry putOff(StepTry open) {
    long now = host.wallMicros();
    JobError error = new JobError(PUT_OFF, "paused before it began", "");
    return open.notMade(now, error, List.of(PUT_OFF));
  }

  private static final String CUT_OFF = "cut off";
  private static final String PUT_OFF = "put off";
}
