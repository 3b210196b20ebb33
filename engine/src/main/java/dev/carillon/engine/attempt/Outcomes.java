package dev.carillon.engine.attempt;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of attempts: each is decided once, written to the journal, and then settled.
 *
 * <p>The first outcome that the loop takes counts. A later one is stale and changes nothing.
 *
 * <p>Crash table: before the outcome is in the journal the next owner runs the attempt again, under
 * the same number; after it, never.
 */
public final class Outcomes {
  /** The listener of an operation that nobody waits for. */
  static final Operation.Listener NOBODY =
      new Operation.Listener() {
        @Override
        public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {}

        @Override
        public void lost(Operation.Loss loss, String why) {}
      };

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Timers timers;
  private final Shards shards;
  private final Committer committer;
  private final Attempts.Life life;
  private final Attempts.News news;
  private final Attempts.LastReport lastReport;
  private final Elsewhere elsewhere;
  private final Retries retries;
  private final Recurrences recurrences;
  private final AttemptSet running;
  private final WorkflowOutcomes workflows;
  private final Leases leases;

  Outcomes(Attempts.Room room) {
    this.env = room.basics().env();
    this.options = room.basics().options();
    this.timers = room.basics().timers();
    this.shards = room.parts().shards();
    this.committer = room.parts().committer();
    this.life = room.parts().life();
    this.news = room.parts().news();
    this.lastReport = room.parts().lastReport();
    this.elsewhere = room.parts().elsewhere();
    this.retries = room.rules().retries();
    this.recurrences = room.rules().recurrences();
    this.running = room.running();
    this.workflows = new WorkflowOutcomes(room, this);
    this.leases = new Leases(room);
  }

  /** The leases of attempts that workers run. */
  public Leases leases() {
    return leases;
  }

  /** Those of workflows. */
  public WorkflowOutcomes workflows() {
    return workflows;
  }

  /** Takes the outcome of a handler; false where it is stale. */
  boolean decide(Attempt attempt, AttemptOutcome outcome) {
    if (attempt.over || attempt.job().revision != attempt.revision()) {
      env.metrics().count("attempts.stale", 1);
      asIfNotMade(attempt);
      return false;
    }
    switch (outcome) {
      case AttemptOutcome.Succeeded(byte[] result) -> succeeded(attempt, result);
      case AttemptOutcome.Failed failed when attempt.isFenced() ->
          interrupted(attempt); // it was told to stop, which says nothing about its job
      case AttemptOutcome.Failed(JobError error, AttemptOutcome.Verdict verdict) ->
          failedOrStopped(
              attempt, attempt.lentTo != 0 ? error : error.on(options.nodeId()), verdict);
      case AttemptOutcome.Again(long due, String note) -> again(attempt, due, note);
      case AttemptOutcome.Undecodable(JobError error) -> undecodable(attempt, error);
      case AttemptOutcome.TooEarly early -> asIfNotMade(attempt);
      case AttemptOutcome.TooLate late -> {
        env.metrics().count("attempts.too.late", 1);
        asIfNotMade(attempt);
      }
      case AttemptOutcome.Interrupted interrupted -> interrupted(attempt);
      case AttemptOutcome.WorkerLost lost -> workerLost(attempt);
      case AttemptOutcome.Waiting(WorkflowTurn turn, WorkflowWait wait) ->
          workflows.waiting(attempt, turn, wait);
      case AttemptOutcome.WorkflowFailed failed ->
          workflows.failed(
              attempt,
              failed,
              attempt.lentTo != 0 ? failed.error() : failed.error().on(options.nodeId()));
      case AttemptOutcome.Diverged(JobError error) -> workflows.diverged(attempt, error);
      case AttemptOutcome.Compensated(JobError failure) -> workflows.compensated(attempt, failure);
      case AttemptOutcome.Renewed renewed -> workflows.renewed(attempt, renewed);
    }
    return true;
  }

  /** The code of a workflow is to end its activation before it begins another call. */
  void endBeforeNextCall(Attempt attempt) {
    if (attempt.stopCause == null) {
      attempt.requestStop(Attempt.StopCause.PAUSE);
      if (attempt.lentTo != 0) {
        elsewhere.recall(attempt, false);
      }
    }
  }

  /** Nobody knows what the worker did: that counts, unless it never had the attempt. */
  private void workerLost(Attempt attempt) {
    env.metrics().count("attempts.worker.lost", 1);
    String message = "worker " + attempt.borrower + " was silent for longer than its lease";
    JobError error = new JobError(Lease.WORKER_LOST, message, "", attempt.borrower);
    boolean kills = attempt.job().workersLost() + 1 >= Lease.MOST_LOST;
    failedOrStopped(
        attempt,
        error,
        kills ? new AttemptOutcome.Verdict.KillsWorkers() : new AttemptOutcome.Verdict.ByPolicy());
  }

  void interrupted(Attempt attempt) {
    if (attempt.mayHaveBegun()) {
      asIfNotMade(attempt); // its code goes on where it was, and sees that it is cancelled
    } else if (attempt.job().cancelRequested()) {
      cancelled(attempt, null);
    } else if (attempt.stopReason != null) {
      occurred(attempt, JobState.FAILED, null, attempt.stopReason);
    } else {
      asIfNotMade(attempt);
    }
  }

  /** Nothing runs of an attempt whose shard has gone, or nobody would know. */
  public void gone(Attempt attempt) {
    if (!attempt.returned) {
      returned(attempt);
      leaveIfDone(attempt);
    }
  }

  /** The handler has returned, or is not called: the slot is free. */
  void returned(Attempt attempt) {
    attempt.returned = true;
    if (attempt.called) {
      long took = env.monotonicNanos() - attempt.startedNanos;
      env.metrics().time("attempts", took);
      attempt.meter.returned(took);
    }
    attempt.grant().leave(attempt.called);
  }

  /** When the attempt ended: its handler returned then, or it is told to end now. */
  private long endOf(Attempt attempt) {
    long returned = attempt.endedMicros();
    return returned != 0 ? returned : env.wallMicros();
  }

  private Ran ran(Attempt attempt) {
    String node = attempt.lentTo != 0 ? attempt.borrower : options.nodeId();
    return Ran.at(attempt.startedMicros(), node, attempt.job().shard().home);
  }

  void succeeded(Attempt attempt, byte[] result) {
    NodeJob job = attempt.job();
    if (!job.isRecurring()) {
      OperationBody.End end =
          new OperationBody.End(
              JobState.SUCCEEDED,
              attempt.number(),
              attempt.revision(),
              endOf(attempt),
              ran(attempt),
              null,
              null,
              result);
      end(attempt, end);
    } else if (job.cancelRequested()) {
      cancelled(attempt, null);
    } else {
      occurred(attempt, JobState.SUCCEEDED, null, null);
    }
  }

  void failedOrStopped(Attempt attempt, JobError error, AttemptOutcome.Verdict verdict) {
    if (attempt.job().cancelRequested() && !attempt.mayHaveBegun()) {
      cancelled(attempt, error);
    } else if (attempt.stopReason != null) {
      occurred(attempt, JobState.FAILED, error, attempt.stopReason);
    } else {
      failed(attempt, error, verdict);
    }
  }

  private void again(Attempt attempt, long dueMicros, String note) {
    if (attempt.job().cancelRequested() && !attempt.mayHaveBegun()) {
      cancelled(attempt, null);
      return;
    }
    long due = notAfterDeadline(attempt.job(), dueMicros);
    OperationBody.Again again =
        new OperationBody.Again(
            attempt.number(), attempt.revision(), endOf(attempt), ran(attempt), due, note);
    goOnLater(attempt, Kind.AGAIN, again, due);
  }

  private void cancelled(Attempt attempt, @Nullable JobError error) {
    FoldedJob.UncommonState rare = attempt.job().rare;
    end(attempt, ended(attempt, JobState.CANCELLED, error, rare != null ? rare.cancelReason : ""));
  }

  OperationBody.End ended(
      Attempt attempt, JobState state, @Nullable JobError error, @Nullable String reason) {
    return new OperationBody.End(
        state,
        attempt.number(),
        attempt.revision(),
        endOf(attempt),
        ran(attempt),
        error,
        reason,
        new byte[0]);
  }

  private void failed(Attempt attempt, JobError error, AttemptOutcome.Verdict verdict) {
    env.metrics().count("attempts.failed", 1);
    attempt.meter.failed();
    NodeJob job = attempt.job();
    FailurePolicy policy = attempt.policy();
    Retries.Failure failure =
        new Retries.Failure(
            attempt.number(), attempt.timeMicros(), attempt.startedMicros(), endOf(attempt));
    Retries.Next following =
        switch (verdict) {
          case AttemptOutcome.Verdict.ByPolicy byPolicy -> retries.after(policy, failure);
          case AttemptOutcome.Verdict.ByPolicyFrom(long micros) -> {
            Retries.Next next = retries.after(policy, failure);
            yield next != null ? next.from(micros) : null;
          }
          case AttemptOutcome.Verdict.RetryAt(long micros) -> new Retries.Next(micros, 0);
          case AttemptOutcome.Verdict.NotRetryable never -> null;
          case AttemptOutcome.Verdict.GiveUp never -> null;
          case AttemptOutcome.Verdict.KillsWorkers never -> null;
        };
    int most = policy.maxRetries() == FailurePolicy.UNLIMITED ? 0 : policy.maxRetries() + 1;
    boolean byRule =
        verdict instanceof AttemptOutcome.Verdict.RetryAt
            || verdict instanceof AttemptOutcome.Verdict.GiveUp
            || verdict instanceof AttemptOutcome.Verdict.KillsWorkers;
    int of = byRule ? 0 : most;
    if (following == null) {
      giveUp(attempt, error, of, verdict);
      return;
    }
    long time = notAfterDeadline(job, following.timeMicros());
    long jitter = notAfterDeadline(job, time + following.jitterMicros()) - time;
    OperationBody.Retry retry =
        new OperationBody.Retry(
            attempt.number(),
            attempt.revision(),
            failure.endedMicros(),
            ran(attempt),
            time,
            jitter,
            error);
    attempt.failure = failure(attempt, error, of, new NodeEvent.Then.Retry(retry.nextDue()));
    goOnLater(attempt, Kind.RETRY, retry, retry.nextDue());
  }

  private static NodeEvent.AttemptFailed failure(
      Attempt attempt, JobError error, int most, NodeEvent.Then then) {
    NodeJob job = attempt.job();
    NodeEvent.Subject subject = job.shard().subject(job);
    return new NodeEvent.AttemptFailed(subject, attempt.number(), most, error, then);
  }

  /** The deadline ends the waiting. */
  public static long notAfterDeadline(NodeJob job, long micros) {
    return job.has(JobSpec.DEADLINE) ? Math.min(micros, job.head().deadlineMicros()) : micros;
  }

  private void giveUp(Attempt attempt, JobError error, int most, AttemptOutcome.Verdict verdict) {
    boolean drop = attempt.policy().kind() == FailurePolicy.Kind.DROP;
    boolean byRule =
        verdict instanceof AttemptOutcome.Verdict.GiveUp
            || verdict instanceof AttemptOutcome.Verdict.KillsWorkers;
    JobState state = drop && !byRule ? JobState.FAILED : JobState.DEAD;
    if (state == JobState.DEAD) {
      attempt.meter.died();
    }
    String reason =
        switch (verdict) {
          case AttemptOutcome.Verdict.NotRetryable never -> "not retryable";
          case AttemptOutcome.Verdict.GiveUp never -> "given up by its handler's rule";
          case AttemptOutcome.Verdict.KillsWorkers never -> Poison.WORKERS_REASON;
          case AttemptOutcome.Verdict.RetryAt at -> "";
          case AttemptOutcome.Verdict.ByPolicy byPolicy -> spent(attempt, drop);
          case AttemptOutcome.Verdict.ByPolicyFrom byPolicy -> spent(attempt, drop);
        };
    attempt.failure =
        failure(
            attempt,
            error,
            most,
            new NodeEvent.Then.End(state, reason, attempt.startedMicros(), endOf(attempt)));
    if (!workflows.giveUp(attempt, state, error, reason)) {
      workflows.end(attempt, state, error, reason);
    }
  }

  private static String spent(Attempt attempt, boolean drop) {
    return drop ? "dropped by its policy" : "failed " + attempt.number() + " times";
  }

  /** An occurrence has ended and its recurring job moves on, in one operation. */
  private void occurred(
      Attempt attempt, JobState outcome, @Nullable JobError error, @Nullable String reason) {
    NodeJob job = attempt.job();
    long end = endOf(attempt);
    Schedule schedule = recurrences.of(job);
    ScheduleState move = moveOf(job);
    Recurrences.Step step =
        recurrences.afterRun(
            schedule,
            move,
            new Recurrences.Run(attempt.timeMicros(), attempt.startedMicros(), end));
    OperationBody.Next next =
        new OperationBody.Next(
            attempt.number(),
            attempt.revision(),
            end,
            ran(attempt),
            outcome,
            error,
            reason,
            outcome == JobState.DEAD ? List.of(deadLetter(job, move)) : List.of(),
            step.move(),
            step.over());
    env.metrics().count("occurrences", 1);
    moveOn(attempt, next, step);
  }

  /**
   * The occurrence under way killed its node: it becomes a dead letter of its own, and its
   * recurring job moves on. {@code then} runs as soon as that is on its way to the journal.
   */
  public void convictOccurrence(NodeJob job, String reason, Runnable then) {
    Shard shard = job.shard();
    long now = env.wallMicros();
    ScheduleState move = moveOf(job);
    Recurrences.Step step =
        recurrences.afterRun(
            recurrences.of(job), move, new Recurrences.Run(job.timeMicros(), now, now));
    OperationBody.Next next =
        new OperationBody.Next(
            job.attempts + 1,
            job.revision,
            now,
            Ran.at(now, options.nodeId(), shard.home),
            JobState.DEAD,
            null,
            reason,
            List.of(deadLetter(job, move)),
            step.move(),
            step.over());
    Operation operation =
        new Operation(Frame.of(Kind.NEXT, job.number, next.encode()), withoutAttempt(job));
    job.busy++;
    shards.ensureAwakeBy(
        shard,
        step.dueMicros(now),
        () -> {
          committer.add(shard.journal, operation);
          then.run();
        });
  }

  /** The listener of an operation that ends a job, or moves it on, without an attempt. */
  Operation.Listener withoutAttempt(NodeJob job) {
    return new Operation.Listener() {
      @Override
      public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
        job.busy--;
        if (job.phase() != NodeJob.Phase.GONE) {
          life.moved(job);
        }
      }

      @Override
      public void lost(Operation.Loss loss, String why) {
        job.busy--;
      }
    };
  }

  private static OperationBody.Next.Child deadLetter(NodeJob job, ScheduleState move) {
    OccurrenceSpec occurrence =
        new OccurrenceSpec(job.number, move.count() + 1, move.timeMicros(), Overlap.ALLOW);
    return new OperationBody.Next.Child(job.shard().nextNumber(), job.dueMicros, occurrence);
  }

  static ScheduleState moveOf(NodeJob job) {
    ScheduleState move = job.move();
    if (move == null) {
      throw new IllegalStateException("job " + job.number + ": not recurring");
    }
    return move;
  }

  void moveOn(Attempt attempt, OperationBody.Next next, Recurrences.Step step) {
    goOnLater(attempt, Kind.NEXT, next, step.dueMicros(next.at()));
  }

  private void undecodable(Attempt attempt, JobError error) {
    if (attempt.job().cancelRequested() && !attempt.mayHaveBegun()) {
      cancelled(attempt, error);
    } else {
      unfit(attempt, error, NodeJob.Phase.UNDECODABLE);
    }
  }

  /** No code here fits the job: it is blocked, and no attempt is counted. */
  void unfit(Attempt attempt, JobError error, NodeJob.Phase why) {
    NodeJob job = attempt.job();
    FoldedJob.UncommonState rare = job.rare();
    rare.lastErrorType = error.type();
    rare.lastErrorMessage = error.message();
    attempt.over = true;
    leases.giveBack(attempt, () -> blockUnfit(attempt, why));
  }

  private void blockUnfit(Attempt attempt, NodeJob.Phase why) {
    NodeJob job = attempt.job();
    attempt.settled = true;
    attempt.fate(WorkerRun.Fate.DURABLE);
    forgetStart(attempt);
    boolean diverged = why == NodeJob.Phase.DIVERGED;
    env.metrics().count(diverged ? "jobs.diverged" : "jobs.undecodable", 1);
    leaveIfDone(attempt);
    if (job.attempt == attempt) {
      job.attempt = null;
      if (job.phase() == NodeJob.Phase.RUNNING) {
        life.unfit(job, why);
      }
    }
  }

  void end(Attempt attempt, OperationBody.End end) {
    NodeJob job = attempt.job();
    if (settle(attempt)) {
      lastReport.write(job);
      Frame frame = Frame.of(Kind.END, job.number, end.encode());
      Operation operation = new Operation(frame, end, new Settlement(attempt, Kind.END));
      operation.rider = attempt.rider;
      Shard shard = job.shard();
      if (!shard.isAwaited(job)) {
        committer.add(shard.journal, operation);
      } else {
        // A clock that jumped back may have left its shard asleep, which owes others the news.
        shards.ensureAwakeBy(
            shard, env.wallMicros(), () -> committer.add(shard.journal, operation));
      }
    }
  }

  /** The attempt is over and its job goes on, due then. */
  private void goOnLater(Attempt attempt, Kind kind, OperationBody body, long dueMicros) {
    NodeJob job = attempt.job();
    if (settle(attempt)) {
      Operation operation =
          new Operation(Frame.of(kind, job.number, body.encode()), new Settlement(attempt, kind));
      operation.rider = attempt.rider;
      // A clock that jumped back may have left the next time below the shard's wake time.
      Shard shard = job.shard();
      shards.ensureAwakeBy(shard, dueMicros, () -> committer.add(shard.journal, operation));
    }
  }

  /** The attempt ends its job, or the occurrence of a recurring one. */
  void ends(Attempt attempt, JobState state, @Nullable JobError error, @Nullable String reason) {
    if (attempt.job().isRecurring() && state != JobState.CANCELLED) {
      occurred(attempt, state, error, reason);
    } else {
      end(attempt, ended(attempt, state, error, reason));
    }
  }

  /** Appends the operation that settles an attempt which is over. */
  void settleWith(Attempt attempt, Kind kind, Frame frame, long dueMicros) {
    Operation operation = new Operation(frame, new Settlement(attempt, kind));
    // A clock that jumped back may have left the next time below the shard's wake time.
    Shard shard = attempt.job().shard();
    shards.ensureAwakeBy(shard, dueMicros, () -> committer.add(shard.journal, operation));
  }

  /** From here on no other outcome is taken; false where its shard is lost and none is sent. */
  boolean settle(Attempt attempt) {
    attempt.over = true;
    NodeJob job = attempt.job();
    if (!job.shard().owned()) {
      attempt.settled = true;
      leaveIfDone(attempt);
      return false;
    }
    job.busy++;
    return true;
  }

  /** What becomes of an outcome. */
  private final class Settlement implements Operation.Listener {
    private final Attempt attempt;
    private final Kind kind;

    Settlement(Attempt attempt, Kind kind) {
      this.attempt = attempt;
      this.kind = kind;
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
      NodeJob job = attempt.job();
      job.busy--;
      job.mark(false);
      attempt.settled = true;
      boolean applied = answer == ShardFold.Answer.APPLIED;
      attempt.fate(applied ? WorkerRun.Fate.DURABLE : WorkerRun.Fate.STALE);
      if (job.attempt == attempt) {
        job.attempt = null;
      }
      if (attempt.failure != null && answer == ShardFold.Answer.APPLIED) {
        news.failed(job, attempt.failure);
      }
      leaveIfDone(attempt);
      if (job.phase() == NodeJob.Phase.RUNNING) {
        goOn(job);
        if (kind == Kind.RETRY) {
          news.retrying(job);
        }
      }
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      attempt.job().busy--;
      attempt.settled = true;
      attempt.fate(WorkerRun.Fate.UNKNOWN);
      leaveIfDone(attempt);
    }
  }

  /** The attempt does not count: its job goes on as if it had not been made. */
  void asIfNotMade(Attempt attempt) {
    if (attempt.over) {
      leaveIfDone(attempt);
      return;
    }
    attempt.over = true;
    leases.giveBack(attempt, () -> notMade(attempt));
  }

  private void notMade(Attempt attempt) {
    NodeJob job = attempt.job();
    attempt.settled = true;
    attempt.fate(WorkerRun.Fate.DURABLE);
    forgetStart(attempt);
    leaveIfDone(attempt);
    if (job.attempt == attempt) {
      job.attempt = null;
      if (job.phase() == NodeJob.Phase.RUNNING) {
        goOn(job);
      }
      if (attempt.lost && attempt.marked && attempt.lentAlone) {
        life.convict(job);
      }
    }
  }

  /** Nothing runs of the job: it waits for its time again, or ends if that was asked for. */
  private void goOn(NodeJob job) {
    life.schedule(job);
    if (job.cancelRequested() && !job.endsByItsCode()) {
      life.endRequested(job);
    }
  }

  /** Its job ends without it: what it says is refused, and its place is free once it returns. */
  void abandon(Attempt attempt) {
    NodeJob job = attempt.job();
    attempt.over = true;
    attempt.settled = true;
    job.mark(false);
    leaveIfDone(attempt);
    if (job.attempt == attempt) {
      job.attempt = null;
      if (job.phase() == NodeJob.Phase.RUNNING) {
        life.schedule(job);
      }
    }
  }

  /** The attempt is over in order and has no outcome: its start marker must not count. */
  private void forgetStart(Attempt attempt) {
    if (attempt.marked && !attempt.lost) {
      forgetStart(attempt.job(), attempt.markersBefore);
    }
  }

  /** The job's last start marker must not count, no crash cut it off; those before it do. */
  public void forgetStart(NodeJob job, int markersBefore) {
    Shard shard = job.shard;
    if (shard == null || !shard.owned()) {
      return;
    }
    OperationBody.Clear clear = new OperationBody.Clear(env.wallMicros(), markersBefore);
    committer.add(
        shard.journal, new Operation(Frame.of(Kind.CLEAR, job.number, clear.encode()), NOBODY));
  }

  void leaveIfDone(Attempt attempt) {
    if (attempt.returned && attempt.settled && running.remove(attempt)) {
      running.lent -= attempt.lentTo != 0 ? 1 : 0;
      attempt.job().shard().running--;
      attempt.grant().release();
      Shard shard = attempt.job().shard;
      if (shard != null && shard.handingBack) {
        shards.settle(shard);
      }
      if (!attempt.timers.isEmpty()) {
        attempt.timers.forEach(timers::cancel);
      }
      attempt.grant().endAlone();
      if (attempt.worker != null) {
        attempt.worker.leave();
      }
    }
  }
}
