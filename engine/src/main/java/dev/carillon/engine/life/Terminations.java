package dev.carillon.engine.life;

import dev.carillon.api.CancelResult;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.attempt.ChildrenInTurn;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequestFormat;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends workflows whose code does not run any more, after their children: those that somebody
 * terminates, and those that are convicted as poison.
 *
 * <p>A workflow without children and without an attempt ends in one operation. Any other is first
 * marked durably: from then on no attempt of it counts. Then its children are asked to end, then it
 * ends.
 *
 * <table>
 * <caption>what if the process dies</caption>
 * <tr><td>before the mark is durable</td><td>nobody has asked</td></tr>
 * <tr><td>after it</td><td>whoever loads the shard goes on from here; the shard is awake</td></tr>
 * <tr><td>among the children</td><td>those that were asked are asked again, which changes
 * nothing</td></tr>
 * </table>
 */
public final class Terminations {
  private static final long RETRY_NANOS = 50_000_000;
  private static final String TERMINATED = "terminated";

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Timers timers;
  private final Shards shards;
  private final Committer committer;
  private final Attempts attempts;
  private final RemoteRequests requests;
  private final Cancels cancels;

  Terminations(Basics basics, JobLife.Parts parts, Cancels cancels) {
    this.env = basics.env();
    this.options = basics.options();
    this.timers = basics.timers();
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.attempts = parts.attempts();
    this.requests = parts.requests();
    this.cancels = cancels;
  }

  /** Ends a workflow without its code; a job that has nothing to compensate is cancelled. */
  public void terminate(JobRef ref, Why why, Consumer<Outcome<CancelResult>> answer) {
    shards.withLoaded(
        ref.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob job = shard.job(ref.number());
            if (job == null) {
              none();
            } else {
              terminate(shard, job, why, answer);
            }
          }

          @Override
          public void none() {
            cancels.answerEnded(ref, answer);
          }

          @Override
          public void elsewhere(Head head) {
            requests.send(
                head,
                new RemoteRequest.Terminate(ref, why),
                outcome -> answer.accept(outcome.map(RemoteRequestFormat::cancelResult)),
                () -> terminate(ref, why, answer));
          }
        });
  }

  private void terminate(
      Shard shard, NodeJob job, Why why, Consumer<Outcome<CancelResult>> answer) {
    JobRef ref = shard.ref(job.number);
    Attempt running = Attempt.of(job);
    if (!job.mayHaveBegun() && (running == null || !running.ofWorkflow)) {
      cancels.cancel(ref, why, answer);
    } else if (job.isUnsettled()) {
      Runnable again = () -> terminate(ref, why, answer);
      attempts.transactions.unlessCompleted(job, again, again);
    } else {
      String reason = why.reason();
      Why told = new Why(why.by(), reason.isEmpty() ? TERMINATED : TERMINATED + ": " + reason);
      shards.ensureAwakeBy(shard, 0, () -> append(shard, job, told, answer));
    }
  }

  private void append(Shard shard, NodeJob job, Why why, Consumer<Outcome<CancelResult>> answer) {
    boolean alone = job.attempt == null && childrenOf(job).isEmpty() && job.busy == 0;
    Frame frame =
        alone
            ? Frame.of(
                Kind.END, job.number, OperationBody.End.cancelled(env.wallMicros(), why).encode())
            : Frame.of(
                Kind.CANCEL,
                job.number,
                new OperationBody.Cancel(
                        env.wallMicros(), why, OperationBody.Cancel.Demand.TERMINATE)
                    .encode());
    job.busy++;
    committer.add(
        shard.journal,
        new Operation(
            frame,
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
                job.busy--;
                if (applied != ShardFold.Answer.APPLIED) {
                  cancels.answerEnded(shard.ref(job.number), answer);
                } else if (alone) {
                  answer.accept(Outcome.ok(new CancelResult.Cancelled()));
                } else {
                  answer.accept(Outcome.ok(new CancelResult.Stopping()));
                  marked(shard, job);
                }
              }

              @Override
              public void lost(Operation.Loss loss, String problem) {
                job.busy--;
                if (shard.owned()) {
                  cancels.goOnIfPassedOver(job);
                }
                answer.accept(loss.outcome(problem));
              }
            }));
  }

  /** The job is marked: nothing of it runs any more, and it ends after its children. */
  private void marked(Shard shard, NodeJob job) {
    Attempt attempt = Attempt.of(job);
    if (attempt != null) {
      attempts.stops.abandon(attempt);
    }
    if (job.busy > 0 && job.phase() != NodeJob.Phase.GONE && shard.owned()) {
      timers.at(env.monotonicNanos() + RETRY_NANOS, () -> marked(shard, job));
    } else {
      cancels.endRequested(shard, job);
    }
  }

  /** Ends a job that is marked, and of which nothing is on its way to the journal. */
  void finish(Shard shard, NodeJob job, String reason) {
    endAfterChildren(shard, job, JobState.CANCELLED, reason);
  }

  /** Ends a job of which nothing runs; its children are asked to end before. */
  void endAfterChildren(Shard shard, NodeJob job, JobState state, String reason) {
    afterChildren(job, () -> cancels.end(shard, job, state, reason));
  }

  /** Asks the children of a workflow to end; runs {@code then} when that is durable of each. */
  void afterChildren(NodeJob job, Runnable then) {
    List<JobRef> children = childrenOf(job);
    if (children.isEmpty()) {
      then.run();
      return;
    }
    job.busy++; // no attempt of it starts meanwhile
    ChildrenInTurn.each(
        children,
        (child, asked) -> endChild(job, child, asked),
        () -> {
          job.busy--;
          if (job.phase() != NodeJob.Phase.GONE) {
            then.run();
          }
        });
  }

  private static List<JobRef> childrenOf(NodeJob job) {
    WorkflowState workflow = job.workflow();
    return workflow == null ? List.of() : workflow.ownChildren();
  }

  /** A child ends as its workflow does: with its compensations or without. */
  private void endChild(NodeJob parent, JobRef child, Runnable then) {
    if (parent.isTerminated()) {
      Why why = new Why(options.nodeId(), "its workflow was terminated");
      terminate(child, why, asked(parent, then, () -> endChild(parent, child, then)));
    } else {
      cancelChild(parent, child, then);
    }
  }

  /** Cancels the child of a workflow that ends; {@code then} runs when it is asked for durably. */
  void cancelChild(NodeJob parent, JobRef child, Runnable then) {
    Why why = new Why(options.nodeId(), "its workflow has ended");
    cancels.cancel(child, why, asked(parent, then, () -> cancelChild(parent, child, then)));
  }

  private Consumer<Outcome<CancelResult>> asked(NodeJob parent, Runnable then, Runnable again) {
    return outcome -> {
      if (outcome.isOk() || parent.phase() == NodeJob.Phase.GONE) {
        then.run();
      } else {
        timers.at(env.monotonicNanos() + RETRY_NANOS, again);
      }
    };
  }
}
