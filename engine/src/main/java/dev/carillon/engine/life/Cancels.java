package dev.carillon.engine.life;

import dev.carillon.api.CancelResult;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequestFormat;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cancels any job at any time and answers truthfully: from the fold where the job's shard is
 * loaded, from its journal where it is not.
 *
 * <p>A job of an unloaded shard is {@linkplain CancelVisits visited}.
 */
public final class Cancels {
  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final Attempts attempts;
  private final RemoteRequests requests;
  private final JobLookup lookup;
  private final JobLife life;
  private final CancelVisits visits;

  /** The parts of a node that take part in a cancel. */
  record Parts(
      Shards shards,
      Committer committer,
      Attempts attempts,
      RemoteRequests requests,
      JobLookup lookup) {}

  Cancels(NodeEnvironment env, Parts parts, JobLife life) {
    this.env = env;
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.attempts = parts.attempts();
    this.requests = parts.requests();
    this.lookup = parts.lookup();
    this.life = life;
    this.visits = new CancelVisits(env, parts.shards(), parts.committer(), this, life);
  }

  public void cancel(JobRef ref, Why why, Consumer<Outcome<CancelResult>> answer) {
    shards.withOwned(
        ref.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            if (shard.loading()) {
              shards.hurry(shard, () -> cancel(ref, why, answer));
            } else if (shard.fold != null) {
              cancelLoaded(shard, shard.fold, ref, why, answer);
            } else {
              visits.visit(shard, new CancelVisits.Wish(ref, why, answer));
            }
          }

          @Override
          public void none() {
            answerEnded(ref, answer);
          }

          @Override
          public void elsewhere(Head head) {
            requests.send(
                head,
                new RemoteRequest.Cancel(ref, why),
                outcome -> answer.accept(outcome.map(RemoteRequestFormat::cancelResult)),
                () -> cancel(ref, why, answer));
          }
        });
  }

  private void cancelLoaded(
      Shard shard,
      ShardFold<NodeJob> fold,
      JobRef ref,
      Why why,
      Consumer<Outcome<CancelResult>> answer) {
    NodeJob job = fold.job(ref.number());
    if (job == null) {
      answerEnded(ref, answer);
    } else if (job.mayHaveBegun() && job.phase() != NodeJob.Phase.RUNNING) {
      // Its code is to see that it is cancelled, and undo what it did.
      shards.ensureAwakeBy(shard, 0, () -> cancelRunning(shard, job, why, answer));
    } else if (job.phase() == NodeJob.Phase.RUNNING) {
      cancelRunning(shard, job, why, answer);
    } else {
      cancelWaiting(shard, job, why, answer);
    }
  }

  /** The job is not live: it ended, or never was. */
  void answerEnded(JobRef ref, Consumer<Outcome<CancelResult>> answer) {
    lookup.find(
        ref,
        outcome -> {
          if (!(outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found))) {
            answer.accept(outcome.map(story -> new CancelResult.NotFound()));
            return;
          }
          JobState state = found.map(story -> story.view().info().state()).orElse(null);
          if (state == null) {
            answer.accept(Outcome.ok(new CancelResult.NotFound()));
          } else if (state.ended()) {
            answer.accept(Outcome.ok(new CancelResult.Ended(state)));
          } else {
            answer.accept(new Outcome.Unavailable<>("the job's shard is changing hands"));
          }
        });
  }

  private void cancelWaiting(
      Shard shard, NodeJob job, Why why, Consumer<Outcome<CancelResult>> answer) {
    if (job.isUnsettled()) {
      Runnable again = () -> cancel(shard.ref(job.number), why, answer);
      attempts.transactions.unlessCompleted(job, again, again);
      return;
    }
    job.busy++;
    OperationBody.End end = OperationBody.End.cancelled(env.wallMicros(), why);
    append(
        shard,
        job,
        Frame.of(Kind.END, job.number, end.encode()),
        (applied, met) -> {
          job.busy--;
          if (applied == ShardFold.Answer.APPLIED) {
            answer.accept(Outcome.ok(new CancelResult.Cancelled()));
          } else if (applied == ShardFold.Answer.STALE) {
            cancel(shard.ref(job.number), why, answer);
          } else {
            answerEnded(shard.ref(job.number), answer);
          }
        },
        lost -> {
          job.busy--;
          answer.accept(lost);
        });
  }

  private void cancelRunning(
      Shard shard, NodeJob job, Why why, Consumer<Outcome<CancelResult>> answer) {
    Attempt running = Attempt.of(job);
    boolean toWorkflow = job.mayHaveBegun() || (running != null && running.ofWorkflow);
    OperationBody.Cancel cancel =
        new OperationBody.Cancel(
            env.wallMicros(),
            why,
            toWorkflow ? OperationBody.Cancel.Demand.COMPENSATE : OperationBody.Cancel.Demand.STOP);
    job.busy++; // its attempt may be over before this is written: no other starts
    append(
        shard,
        Frame.of(Kind.CANCEL, job.number, cancel.encode()),
        (applied, met) -> {
          job.busy--;
          if (applied != ShardFold.Answer.APPLIED) {
            answerEnded(shard.ref(job.number), answer);
            return;
          }
          answer.accept(Outcome.ok(new CancelResult.Stopping()));
          Attempt attempt = Attempt.of(job);
          if (attempt != null) {
            attempts.stops.cancel(attempt);
          } else if (job.hasBegun()) {
            life.wake(job);
            life.goOnIfPassedOver(job);
          } else {
            endRequested(shard, job);
          }
        },
        lost -> {
          job.busy--;
          if (shard.owned()) {
            life.goOnIfPassedOver(job);
          }
          answer.accept(lost);
        });
  }

  private interface Applied {
    void applied(ShardFold.Answer answer, @Nullable NodeJob met);
  }

  /**
   * Whoever finds the shard must know of the end if others wait for it: the shard is awake. A job
   * that was replaced meanwhile is not the one that was to end.
   */
  private void append(
      Shard shard, NodeJob job, Frame frame, Applied then, Consumer<Outcome<CancelResult>> answer) {
    if (!shard.isAwaited(job)) {
      append(shard, frame, then, answer);
      return;
    }
    int revision = job.revision;
    shards.ensureAwakeBy(
        shard,
        0,
        () -> {
          if (job.revision == revision) {
            append(shard, frame, then, answer);
          } else {
            then.applied(ShardFold.Answer.STALE, job);
          }
        });
  }

  private void append(
      Shard shard, Frame frame, Applied then, Consumer<Outcome<CancelResult>> answer) {
    committer.add(
        shard.journal,
        new Operation(
            frame,
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
                then.applied(applied, met == null ? null : NodeJob.of(met));
              }

              @Override
              public void lost(Operation.Loss loss, String problem) {
                answer.accept(loss.outcome(problem));
              }
            }));
  }

  // ---- without anybody waiting

  /** Ends a job that was asked to stop and of which nothing runs. */
  void endRequested(Shard shard, NodeJob job) {
    String reason = job.rare != null ? job.rare.cancelReason : null;
    if (reason == null || job.busy > 0 || job.endsByItsCode()) {
      return;
    }
    if (job.isTerminated()) {
      life.terminations().finish(shard, job, reason);
    } else {
      end(shard, job, JobState.CANCELLED, reason);
    }
  }

  /** Ends a job of which nothing runs. */
  void end(Shard shard, NodeJob job, JobState state, String reason) {
    if (job.isUnsettled()) {
      attempts.transactions.unlessCompleted(job, () -> end(shard, job, state, reason), () -> {});
      return;
    }
    job.busy++;
    OperationBody.End end = OperationBody.End.without(state, env.wallMicros(), reason);
    append(
        shard,
        job,
        Frame.of(Kind.END, job.number, end.encode()),
        (applied, met) -> {
          job.busy--;
          if (applied == ShardFold.Answer.STALE) {
            goOnIfPassedOver(job);
          }
        },
        lost -> job.busy--);
  }

  /** What it has become may have come due while it was busy, and then it stands in no line. */
  void goOnIfPassedOver(NodeJob job) {
    if (job.isIdle(NodeJob.Phase.READY) || job.isIdle(NodeJob.Phase.LIMITED)) {
      life.scheduleAgain(job);
    }
  }
}
