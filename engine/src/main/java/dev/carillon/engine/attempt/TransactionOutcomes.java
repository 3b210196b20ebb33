package dev.carillon.engine.attempt;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Transactions.Completion;
import dev.carillon.store.Transactions.Place;
import dev.carillon.store.Transactions.Rider;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of attempts that a transaction completes ({@code completeIn}).
 *
 * <p>Once a handler has called {@code completeIn}, the attempt waits for the end of its
 * transaction. A commit counts, whatever the handler did afterwards and however late it came. So no
 * journal says anything of an attempt that an open transaction may still complete. An owner that
 * claimed a shard from one that did not release it asks before it starts or ends a job that may
 * have run there.
 *
 * <table>
 * <caption>what if</caption>
 * <tr><td>the handler returns after the commit</td><td>the row's outcome is appended, the row goes
 * </td></tr>
 * <tr><td>it returns though the transaction was rolled back</td><td>the attempt has failed and says
 * why</td></tr>
 * <tr><td>it throws after the commit</td><td>the row's outcome counts</td></tr>
 * <tr><td>its time is over, and it commits later</td><td>the job waits for the end of the
 * transaction; a commit counts, else its timeout does</td></tr>
 * <tr><td>the process dies between commit and append</td><td>the next owner finds the row</td></tr>
 * <tr><td>it is paused and its shard claimed</td><td>it cannot complete any more; what it had
 * written before is waited for by the new owner</td></tr>
 * <tr><td>the job was replaced meanwhile</td><td>the row is of what it was before, and goes</td></tr>
 * </table>
 */
public final class TransactionOutcomes {
  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final Recurrences recurrences;
  private final Completions completions;
  private final Outcomes outcomes;

  TransactionOutcomes(Attempts.Room room, Outcomes outcomes) {
    this.env = room.basics().env();
    this.shards = room.parts().shards();
    this.committer = room.parts().committer();
    this.recurrences = room.rules().recurrences();
    this.completions = room.rules().completions();
    this.outcomes = outcomes;
  }

  /** A handler that returned has done its work only if its transaction was committed. */
  static AttemptOutcome notCommitted(AttemptOutcome outcome) {
    return outcome instanceof AttemptOutcome.Succeeded
        ? new AttemptOutcome.Failed(
            new JobError(
                "transaction not committed",
                "completeIn was called in a transaction that was rolled back (expected: a commit"
                    + " before the handler returns)",
                ""),
            new AttemptOutcome.Verdict.ByPolicy())
        : outcome;
  }

  /**
   * Asks what a transaction has completed. Where one was committed its outcome counts, whatever
   * else became of the attempt; else {@code without} says how it goes on. An open transaction is
   * waited for: until it ends nobody can say what is to follow.
   */
  void settle(Attempt attempt, Runnable without) {
    NodeJob job = attempt.job();
    attempt.settling = true;
    job.busy++;
    completions.settle(
        attempt.place(),
        () -> !attempt.isCompleting(),
        found -> {
          job.busy--;
          attempt.settling = false;
          if (attempt.over) {
            outcomes.leaveIfDone(attempt); // its shard is another's, who asks as well
          } else {
            settled(attempt, found, without);
          }
        });
  }

  private void settled(Attempt attempt, @Nullable Completion found, Runnable without) {
    NodeJob job = attempt.job();
    Completed completed = found != null ? Completed.decode(found.outcome()) : null;
    if (completed != null && Completed.fits(completed, job)) {
      job.settled(true);
      if (!attempt.called) {
        outcomes.returned(attempt);
      }
      attempt.rider = gone(attempt.place());
      env.metrics().count("attempts.completed", 1);
      outcomes.succeeded(attempt, completed.result());
      return;
    }
    if (found != null) {
      discard(job, attempt.place());
    }
    without.run();
  }

  private static Rider gone(Place place) {
    return new Rider(List.of(), List.of(), List.of(place));
  }

  /** The outcome of what the job was before it was replaced: it counts for nothing. */
  private void discard(NodeJob job, Place place) {
    int markers = job.rare != null ? job.rare.markers : 0;
    Operation clear =
        new Operation(
            Frame.of(
                Kind.CLEAR,
                job.number,
                new OperationBody.Clear(env.wallMicros(), markers).encode()),
            Outcomes.NOBODY);
    clear.rider = gone(place);
    committer.add(job.shard().journal, clear);
  }

  /**
   * Runs {@code then} once it is known that no transaction has completed the job under an earlier
   * owner; where one has, that ends the job instead and {@code completed} runs.
   */
  public void unlessCompleted(NodeJob job, Runnable then, Runnable completed) {
    if (!job.isUnsettled()) {
      then.run();
      return;
    }
    Shard shard = job.shard();
    Place place = new Place(shard.id, job.number);
    job.busy++;
    completions.settle(
        place,
        () -> true,
        found -> {
          job.busy--;
          if (!shard.owned() || job.phase() == NodeJob.Phase.GONE) {
            return;
          }
          job.settled(true);
          Completed outcome = found != null ? Completed.decode(found.outcome()) : null;
          if (outcome == null || !Completed.fits(outcome, job)) {
            if (found != null) {
              discard(job, place);
            }
            then.run();
          } else {
            endCompleted(job, outcome, place);
            completed.run();
          }
        });
  }

  private void endCompleted(NodeJob job, Completed completed, Place place) {
    Shard shard = job.shard();
    long now = env.wallMicros();
    env.metrics().count("attempts.completed", 1);
    job.busy++;
    if (job.isRecurring()) {
      Recurrences.Step step =
          recurrences.afterRun(
              recurrences.of(job),
              Outcomes.moveOf(job),
              new Recurrences.Run(job.timeMicros(), completed.startedMicros(), now));
      OperationBody.Next next =
          new OperationBody.Next(
              completed.attempt(),
              job.revision,
              now,
              ran(job, completed),
              JobState.SUCCEEDED,
              null,
              null,
              List.of(),
              step.move(),
              step.over());
      Operation operation =
          new Operation(
              Frame.of(Kind.NEXT, job.number, next.encode()), outcomes.withoutAttempt(job));
      operation.rider = gone(place);
      shards.ensureAwakeBy(
          shard, step.dueMicros(now), () -> committer.add(shard.journal, operation));
      return;
    }
    OperationBody.End end =
        new OperationBody.End(
            JobState.SUCCEEDED,
            completed.attempt(),
            job.revision,
            now,
            ran(job, completed),
            null,
            null,
            completed.result());
    Operation operation =
        new Operation(
            Frame.of(Kind.END, job.number, end.encode()), end, outcomes.withoutAttempt(job));
    operation.rider = gone(place);
    shards.ensureAwakeBy(shard, 0, () -> committer.add(shard.journal, operation));
  }

  private static Ran ran(NodeJob job, Completed completed) {
    return Ran.at(completed.startedMicros(), completed.node(), job.shard().home);
  }
}
