package dev.carillon.engine.attempt;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.HistoryLimit;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.store.Outcome;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How the activations of workflows end: in a wait, in a failure with or without compensations, or
 * anew from the beginning.
 *
 * <p>An activation is an attempt whose handler has run before: it goes from a start or a wake-up to
 * the next wait. A wait costs no attempt, frees the slot, and is in the journal.
 *
 * <table>
 * <caption>what if the process dies</caption>
 * <tr><td>before the wait is durable</td><td>the job is due: its code runs again, up to the same
 * wait</td></tr>
 * <tr><td>after it</td><td>the job is due when the wait is over</td></tr>
 * <tr><td>before the workflow is given up durably</td><td>its last attempt is made again</td></tr>
 * <tr><td>after that, among its compensations</td><td>the code runs again up to where it was given
 * up; compensations with a recorded result are not run again</td></tr>
 * </table>
 */
public final class WorkflowOutcomes {
  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Attempts.Children children;
  private final Attempts.LastReport lastReport;
  private final Outcomes outcomes;
  private final TurnWriter writer;

  WorkflowOutcomes(Attempts.Room room, Outcomes outcomes) {
    this.env = room.basics().env();
    this.options = room.basics().options();
    this.children = room.parts().children();
    this.lastReport = room.parts().lastReport();
    this.outcomes = outcomes;
    this.writer = new TurnWriter(room, this::lookAtHistory);
  }

  /** The activation is over, the job waits. */
  void waiting(Attempt attempt, WorkflowTurn turn, WorkflowWait wait) {
    NodeJob job = attempt.job();
    if (!outcomes.settle(attempt)) {
      return;
    }
    boolean ending = isEnding(job);
    long until = ending ? wait.untilMicros() : Outcomes.notAfterDeadline(job, wait.untilMicros());
    if (turn.isEmpty()) {
      settleWith(attempt, wait, until);
    } else {
      writer.write(attempt, turn, outcome -> {}, () -> settleWith(attempt, wait, until));
    }
  }

  private void settleWith(Attempt attempt, WorkflowWait wait, long until) {
    OperationBody.Wait body =
        new OperationBody.Wait(
            attempt.number(),
            attempt.revision(),
            attempt.nextEntry(0),
            env.wallMicros(),
            wait.until(until));
    Frame frame = Frame.of(Kind.WAIT, attempt.job().number, body.encode());
    outcomes.settleWith(attempt, Kind.WAIT, frame, Math.min(until, env.wallMicros()));
  }

  /**
   * Writes what the code did since its last checkpoint; {@code answer} hears true once it is
   * durable, false where it was refused.
   */
  public void write(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer) {
    writer.write(attempt, turn, answer, () -> {});
  }

  /** Where the history of a workflow is too long, its code is to begin no further call. */
  void lookAtHistory(Attempt attempt) {
    NodeJob job = attempt.job();
    WorkflowState workflow = job.workflow();
    HistoryLimit limit = options.historyLimit();
    if (workflow == null || !limit.isNear(workflow.entries(), workflow.bytes())) {
      return;
    }
    if (!job.longHistoryTold) {
      job.longHistoryTold = true;
      env.tell(
          new NodeEvent.LongHistory(
              job.shard().subject(job), workflow.entries(), workflow.bytes(), limit));
    }
    if (!attempt.over && limit.isReached(workflow.entries(), workflow.bytes()) && !isEnding(job)) {
      outcomes.endBeforeNextCall(attempt);
    }
  }

  /** The handler threw: another attempt follows, or the job is given up. */
  void failed(Attempt attempt, AttemptOutcome.WorkflowFailed failed, JobError error) {
    if (attempt.isFenced()) {
      outcomes.interrupted(attempt);
      return;
    }
    attempt.nothingToUndo = !failed.compensations();
    attempt.unwritten = failed.turn().entries();
    outcomes.failedOrStopped(attempt, error, failed.verdict());
  }

  /**
   * The job is to end so. Where its code has begun and has something to undo, that is made durable
   * and its compensations run first.
   *
   * @return false where there is nothing to undo
   */
  boolean giveUp(
      Attempt attempt, JobState state, @Nullable JobError error, @Nullable String reason) {
    NodeJob job = attempt.job();
    boolean begun = attempt.mayHaveBegun() || hasBegun(attempt.unwritten);
    if (!begun || isGivenUp(job) || attempt.nothingToUndo) {
      return false;
    }
    if (outcomes.settle(attempt)) {
      List<HistoryEntry> entries =
          attempt.unwrittenWith(new HistoryEntry.GivenUp(env.wallMicros(), state, reason, error));
      outcomes.settleWith(
          attempt, Kind.CHECKPOINT, writer.checkpoint(attempt, entries), job.dueMicros);
    }
    return true;
  }

  private static boolean isGivenUp(NodeJob job) {
    WorkflowState workflow = job.workflow();
    return workflow != null && workflow.givenUp() != null;
  }

  /** Whether all that is left of the job is to undo what it did: no deadline ends that. */
  public static boolean isEnding(NodeJob job) {
    return job.endsByItsCode() && (job.cancelRequested() || isGivenUp(job));
  }

  /** The deadline of a workflow has passed; false where there is nothing to undo. */
  boolean expired(Attempt attempt, String reason) {
    return giveUp(attempt, JobState.EXPIRED, null, reason);
  }

  private static boolean hasBegun(List<HistoryEntry> entries) {
    return entries.stream().anyMatch(entry -> entry instanceof HistoryEntry.Begun);
  }

  /** Its compensations have run: the job ends as it was to. */
  void compensated(Attempt attempt, @Nullable JobError failure) {
    NodeJob job = attempt.job();
    WorkflowState workflow = job.workflow();
    HistoryEntry.GivenUp givenUp = workflow != null ? workflow.givenUp() : null;
    JobState state = givenUp != null ? givenUp.state() : JobState.CANCELLED;
    FoldedJob.UncommonState rare = job.rare;
    String cancel = rare != null ? rare.cancelReason : null;
    String reason = givenUp != null ? givenUp.reason() : cancel;
    JobError error = givenUp != null ? givenUp.error() : null;
    if (failure != null) {
      state = JobState.DEAD;
      reason = failure.message();
      error = error != null ? error : failure;
    }
    end(attempt, state, error, reason);
  }

  /** Ends the job, after its children are cancelled: none outlives its workflow. */
  void end(Attempt attempt, JobState state, @Nullable JobError error, @Nullable String reason) {
    NodeJob job = attempt.job();
    WorkflowState workflow = job.workflow();
    List<JobRef> children = workflow != null ? workflow.ownChildren() : List.of();
    if (children.isEmpty()) {
      outcomes.ends(attempt, state, error, reason);
    } else if (outcomes.settle(attempt)) {
      ChildrenInTurn.each(
          children,
          (child, then) -> this.children.cancelChild(job, child, then),
          () -> {
            job.busy--;
            outcomes.ends(attempt, state, error, reason);
          });
    }
  }

  /** The code asks for something else than its history has. */
  void diverged(Attempt attempt, JobError error) {
    outcomes.unfit(attempt, error, NodeJob.Phase.DIVERGED);
  }

  /** The workflow goes on from its beginning. */
  void renewed(Attempt attempt, AttemptOutcome.Renewed renewed) {
    NodeJob job = attempt.job();
    long carried = renewed.unread().stream().mapToLong(HistoryEntry::bytes).sum();
    if (carried > TurnWriter.MOST_BYTES) {
      String problem =
          "continueAsNew: %d signals of %d bytes that the code has not taken (expected: at most %d bytes)"
              .formatted(renewed.unread().size(), carried, TurnWriter.MOST_BYTES);
      outcomes.failedOrStopped(
          attempt,
          JobError.of(new InvalidJobException(problem)).on(options.nodeId()),
          new AttemptOutcome.Verdict.ByPolicy());
      return;
    }
    if (!outcomes.settle(attempt)) {
      return;
    }
    lastReport.write(job);
    byte[] spec = job.head().withPayload(renewed.input(), renewed.typeVersion()).encode();
    OperationBody.Renew body =
        new OperationBody.Renew(
            attempt.number(),
            attempt.revision(),
            attempt.nextEntry(0),
            env.wallMicros(),
            renewed.seen(),
            renewed.unread(),
            spec);
    Frame frame = Frame.of(Kind.RENEW, job.number, body.encode());
    outcomes.settleWith(attempt, Kind.RENEW, frame, env.wallMicros());
  }
}
