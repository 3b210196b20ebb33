package dev.carillon.replay;

import dev.carillon.api.JobError;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.workflow.WorkflowUnwound;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.AttemptOutcome.Verdict;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs the handler and finds what its end means, in this order: what the context decided; a job
 * that is given up or cancelled, whose compensations run; a code that ended before its history did;
 * what it returned or threw.
 */
final class Ending {
  private final WorkflowRun run;
  private final Context wf;
  private final WorkflowCode code;

  Ending(WorkflowRun run, Context wf, WorkflowCode code) {
    this.run = run;
    this.wf = wf;
    this.code = code;
  }

  /** The last outcome of the run. */
  AttemptOutcome run() {
    Object input;
    try {
      run.look();
      input = code.input();
    } catch (OutOfMemoryError e) {
      return failed(e, new Verdict.ByPolicy());
    } catch (WorkflowUnwound e) {
      return new AttemptOutcome.Interrupted();
    } catch (Throwable e) {
      return new AttemptOutcome.Undecodable(JobError.of(e));
    }
    Object result = null;
    Throwable thrown = null;
    try {
      wf.open();
      result = code.run(input, wf);
    } catch (Throwable e) {
      thrown = e;
    }
    wf.close();
    try {
      AttemptOutcome decided = wf.calls().outcome();
      if (decided != null) {
        return decided;
      }
      run.look();
      return thrown == null ? returned(result) : threw(thrown);
    } catch (WorkflowUnwound e) {
      AttemptOutcome decided = wf.calls().outcome();
      return decided != null ? decided : new AttemptOutcome.Interrupted();
    }
  }

  private AttemptOutcome returned(@Nullable Object result) {
    if (run.history().isGivenUp()) {
      return compensated();
    }
    if (wf.calls().endTooEarly("the end of the handler")) {
      return decided();
    }
    byte[] encoded;
    try {
      encoded = code.encodeResult(result);
    } catch (Throwable e) {
      return failed(e, new Verdict.NotRetryable());
    }
    wf.awaitRest(false);
    return run.history().isGivenUp() ? compensated() : new AttemptOutcome.Succeeded(encoded);
  }

  private AttemptOutcome threw(Throwable thrown) {
    run.started().stop();
    run.look();
    if (run.history().isStopped()) {
      return compensated();
    }
    if (wf.calls().endTooEarly("the handler threw " + thrown)) {
      return decided();
    }
    return failed(thrown, verdict(thrown));
  }

  private AttemptOutcome decided() {
    AttemptOutcome decided = wf.calls().outcome();
    return decided != null ? decided : new AttemptOutcome.Interrupted();
  }

  /** A recorded failure would only come again. */
  private Verdict verdict(Throwable thrown) {
    boolean recorded =
        thrown instanceof StepFailedException || thrown instanceof ChildFailedException;
    return recorded || thrown instanceof NotRetryableException
        ? new Verdict.NotRetryable()
        : run.activation().verdict(thrown);
  }

  private AttemptOutcome failed(Throwable thrown, Verdict verdict) {
    run.started().stop();
    boolean compensations = !wf.compensations().isEmpty();
    return new AttemptOutcome.WorkflowFailed(
        run.takeKept(), JobError.of(thrown), verdict, compensations);
  }

  // ---- compensations

  /** Runs those that have no recorded end, the last registered first. */
  private AttemptOutcome compensated() {
    run.started().stop();
    List<StepFailed> failures = new ArrayList<>();
    for (StepCall undo : wf.compensations().reversed()) {
      Tries.Made made = run.tries().toItsEnd(undo, false);
      if (made != null && made.call().end() instanceof StepFailed failure) {
        failures.add(failure);
      }
    }
    return new AttemptOutcome.Compensated(failures.isEmpty() ? null : failure(failures));
  }

  private static JobError failure(List<StepFailed> failures) {
    JobError first = failures.getFirst().error();
    List<String> names = failures.stream().map(failure -> '"' + failure.name() + '"').toList();
    String message = "compensation %s: %s".formatted(String.join(", ", names), first.message());
    return new JobError(first.type(), message, first.stack(), first.node());
  }
}
