package dev.carillon.engine.attempt;

import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.dispatch.JobMeters;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.RunningJob;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import java.util.function.Consumer;

/**
 * The attempts of this node, from the dispatcher's grant to the durable outcome.
 *
 * <p>Four parts share the set of attempts under way. {@link Outcomes} uses none of the others;
 * {@link TransactionOutcomes}, {@link Stops} and {@link Starts} each use those named before them.
 */
public final class Attempts {
  public final Outcomes outcomes;
  public final TransactionOutcomes transactions;
  public final Stops stops;
  public final Starts starts;

  private final NodeEnvironment env;
  private final Elsewhere elsewhere;
  private final AttemptRunner runner;
  private final AttemptSet running = new AttemptSet();

  /** The life of a job outside its attempts. */
  public interface Life {
    /** The job waits for its due time (again). */
    void schedule(NodeJob job);

    /** The job has another due time, wherever it stands in line. */
    void moved(NodeJob job);

    /** No code here fits the job: it cannot be decoded, or diverged. */
    void unfit(NodeJob job, NodeJob.Phase why);

    /** Ends a job that was asked to stop and of which nothing runs. */
    void endRequested(NodeJob job);

    /** The node that the attempt was lent to died while the job ran alone there. */
    void convict(NodeJob job);
  }

  /** The children of workflows. */
  public interface Children {
    /** A workflow has started a child. */
    void added(Shard shard, NodeJob child);

    /** Other jobs take the place of children of a workflow, which waits for their ends. */
    void joined(Shard shard, NodeJob workflow);

    /** The child of a workflow that ends is cancelled; {@code then} runs when that is durable. */
    void cancelChild(NodeJob parent, JobRef child, Runnable then);
  }

  /** Records what jobs reported of themselves. */
  @FunctionalInterface
  public interface LastReport {
    /** The job ends or begins anew: what it reported last stands before that in the journal. */
    void write(NodeJob job);
  }

  /** Hears how attempts go. */
  public interface News {
    /** An attempt's handler is about to be called. */
    void started(NodeJob job);

    /** The job waits for its next attempt after a failure. */
    void retrying(NodeJob job);

    /** An attempt failed, and that is durable. */
    void failed(NodeJob job, NodeEvent.AttemptFailed failure);
  }

  /** The parts of a node that attempts use and are heard by. */
  public record Parts(
      MemberStatus status,
      Shards shards,
      Committer committer,
      AttemptRunner runner,
      Life life,
      Children children,
      News news,
      LastReport lastReport,
      Elsewhere elsewhere) {}

  /** What decides over the attempts that follow one. */
  public record Rules(
      Retries retries, Recurrences recurrences, Completions completions, JobMeters meters) {}

  /** The state and the collaborators that the parts of this room share. */
  record Room(Basics basics, Parts parts, Rules rules, AttemptSet running) {}

  public Attempts(Basics basics, Parts parts, Rules rules) {
    Room room = new Room(basics, parts, rules, running);
    this.env = basics.env();
    this.runner = parts.runner();
    this.elsewhere = room.parts().elsewhere();
    this.outcomes = new Outcomes(room);
    this.transactions = new TransactionOutcomes(room, outcomes);
    this.stops = new Stops(room, outcomes, transactions);
    this.starts = new Starts(room, outcomes, transactions, stops);
  }

  public int running() {
    return running.size();
  }

  /** Those of them with which a later owner goes on: nobody has to wait for them. */
  public int safe() {
    if (running.lent == 0) {
      return 0;
    }
    int safe = 0;
    for (Attempt attempt : running.all()) {
      safe += attempt.mayBeLeft() ? 1 : 0;
    }
    return safe;
  }

  /** The jobs whose handlers run on this node, also where their outcomes do not count any more. */
  public void eachRunning(Consumer<RunningJob> each) {
    for (Attempt attempt : running.all()) {
      if (attempt.called && !attempt.returned && (attempt.lentTo == 0 || attempt.worker != null)) {
        Lane lane = attempt.lane();
        each.accept(attempt.asRunning(lane.namespace, lane.queue));
      }
    }
  }

  /** Whether the outcome of an attempt of the shard's jobs is open: hung handlers do not count. */
  public boolean isOpen(Shard shard) {
    for (Attempt attempt : running.all()) {
      if (!attempt.settled && attempt.job().shard == shard && !attempt.mayBeLeft()) {
        return true;
      }
    }
    return false;
  }

  /** The history of a workflow has an entry more: whoever runs its code is told. */
  public void told(NodeJob job, JobRef ref, int count, HistoryEntry entry) {
    runner.told(ref, count, entry);
    Attempt attempt = Attempt.of(job);
    if (attempt != null && attempt.lentTo != 0) {
      elsewhere.recorded(attempt, count, entry);
    }
  }

  /** A workflow has ended, or left this node. */
  public void forget(JobRef job) {
    runner.forget(job);
  }

  /** The runner says how it went; false where the attempt was over already and it counts not. */
  public boolean finished(Attempt attempt, AttemptOutcome outcome) {
    outcomes.returned(attempt);
    if (attempt.settling) {
      env.metrics().count("attempts.stale", 1); // its time is over, it waits for its transaction
      return false;
    }
    if (!attempt.over && attempt.closeCompletion()) {
      transactions.settle(
          attempt, () -> outcomes.decide(attempt, TransactionOutcomes.notCommitted(outcome)));
      return true;
    }
    return outcomes.decide(attempt, outcome);
  }
}
