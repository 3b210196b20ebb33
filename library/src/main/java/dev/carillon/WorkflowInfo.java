package dev.carillon;

import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.engine.query.HistoryReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A workflow as its history in the store has it: its steps, and what it waits for.
 *
 * @param id the job
 * @param state how the journal has it
 * @param steps in the order of their first tries; empty for a job that is no workflow
 * @param waitsFor what ends its wait; null where it does not wait
 */
public record WorkflowInfo(JobId id, JobState state, List<Step> steps, @Nullable Wait waitsFor) {

  /** Copies the list. */
  public WorkflowInfo {
    Objects.requireNonNull(id, "id");
    Objects.requireNonNull(state, "state");
    steps = List.copyOf(steps);
  }

  /** Where a step stands. */
  public enum StepState {
    /** A try that must not be repeated is under way, or was cut off. */
    BEGUN,
    /** A try failed, and another is to come. */
    RETRYING,
    /** It has its result. */
    DONE,
    /** It failed for good. */
    FAILED
  }

  /**
   * A step with a record. A first try that is under way has none, unless the step is one that must
   * not be repeated.
   *
   * @param name what the code calls it
   * @param state where it stands
   * @param tries how many tries have a record
   * @param startedAt when its last try began; null where only the beginning is recorded
   * @param at when it came to stand so
   * @param nextAt when the next try is due; null unless it is retried
   * @param error what its last try failed with; null if it is done
   * @param result what it returned, as it is stored; null where it has none
   */
  public record Step(
      String name,
      StepState state,
      int tries,
      @Nullable Instant startedAt,
      Instant at,
      @Nullable Instant nextAt,
      @Nullable JobError error,
      @Nullable RawPayload result) {}

  /**
   * What ends a wait: the time, one of the signals, or the end of one or all of the children. A
   * cancel ends it too.
   *
   * @param until the time; null where it has none
   * @param signals the types of the awaited signals
   * @param children the awaited children
   * @param allChildren whether all of them must have ended, or one of them
   */
  public record Wait(
      @Nullable Instant until, List<String> signals, List<JobId> children, boolean allChildren) {

    /** Copies the lists. */
    public Wait {
      signals = List.copyOf(signals);
      children = List.copyOf(children);
    }
  }

  static WorkflowInfo of(HistoryReader.Recorded found, Payloads payloads) {
    Map<Integer, Step> steps = new LinkedHashMap<>();
    Map<Integer, JobId> children = new LinkedHashMap<>();
    for (HistoryEntry entry : found.entries()) {
      switch (entry) {
        case HistoryEntry.StepBegun e ->
            steps.put(
                e.call(),
                new Step(
                    e.name(), StepState.BEGUN, e.attempt(), null, time(e.at()), null, null, null));
        case HistoryEntry.StepFailed e -> steps.put(e.call(), failed(e));
        case HistoryEntry.StepDone e ->
            steps.put(
                e.call(),
                new Step(
                    e.name(),
                    StepState.DONE,
                    e.attempt(),
                    time(e.startedAt()),
                    time(e.at()),
                    null,
                    null,
                    e.result().length == 0 ? null : payloads.raw(e.result())));
        case HistoryEntry.ChildStarted e -> children.put(e.call(), e.child().id());
        default -> {}
      }
    }
    WorkflowWait wait = found.waitsFor();
    return new WorkflowInfo(
        found.job().id(),
        found.state(),
        new ArrayList<>(steps.values()),
        wait != null ? wait(wait, children) : null);
  }

  private static Step failed(HistoryEntry.StepFailed e) {
    boolean retried = e.nextAt() != 0;
    return new Step(
        e.name(),
        retried ? StepState.RETRYING : StepState.FAILED,
        e.attempt(),
        time(e.startedAt()),
        time(e.at()),
        retried ? time(e.nextAt()) : null,
        e.error(),
        null);
  }

  private static Wait wait(WorkflowWait wait, Map<Integer, JobId> started) {
    List<JobId> children = new ArrayList<>();
    for (int call : wait.children()) {
      JobId child = started.get(call);
      if (child != null) {
        children.add(child);
      }
    }
    return new Wait(
        wait.untilMicros() < WorkflowWait.FOR_EVER ? time(wait.untilMicros()) : null,
        wait.signals().stream().map(WorkflowWait.AwaitedSignal::type).toList(),
        children,
        wait.all());
  }

  private static Instant time(long micros) {
    return Micros.toInstant(micros);
  }
}
