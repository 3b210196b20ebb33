package dev.carillon.engine.attempt;

import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the leases of attempts that workers run, and takes them back.
 *
 * <p>Crash table: before the LEASE is durable the next owner makes the attempt again; after it, the
 * next owner adopts it. Before a lease that was given back is out of the journal, the next owner
 * waits for a worker that does not have the attempt, and counts it as lost.
 */
public final class Leases {
  private final NodeEnvironment env;
  private final Committer committer;

  Leases(Attempts.Room room) {
    this.env = room.basics().env();
    this.committer = room.parts().committer();
  }

  /** The worker of the attempt is written down; {@code then} runs when that is durable. */
  public void write(Attempt attempt, Runnable then) {
    WorkerRun run = attempt.worker;
    if (run == null || run.leasing || attempt.over || attempt.isLeased()) {
      return;
    }
    Shard shard = attempt.job().shard();
    if (!shard.owned() || attempt.job().revision != attempt.revision()) {
      return;
    }
    run.leasing = true;
    append(
        attempt,
        run.lengthMicros,
        applied -> {
          run.leasing = false;
          if (applied && !attempt.over) {
            env.metrics().count("leases.written", 1);
            then.run();
          }
        });
  }

  /** The worker has given the attempt back, if it had it: no later owner is to wait for it. */
  void giveBack(Attempt attempt, Runnable then) {
    NodeJob job = attempt.job();
    WorkerRun run = attempt.worker;
    boolean had = run != null && (run.leasing || attempt.isLeased());
    if (!had || !job.shard().owned() || job.revision != attempt.revision()) {
      then.run();
      return;
    }
    job.busy++;
    append(
        attempt,
        0,
        applied -> {
          job.busy--;
          then.run();
        });
  }

  private void append(Attempt attempt, long lengthMicros, Consumer<Boolean> then) {
    NodeJob job = attempt.job();
    Lease lease =
        new Lease(
            attempt.nonce(),
            attempt.epoch(),
            attempt.borrower,
            attempt.startedMicros(),
            lengthMicros);
    byte[] body =
        new Lease.Recorded(attempt.number(), attempt.revision(), env.wallMicros(), lease).encode();
    committer.add(
        job.shard().journal,
        new Operation(
            Frame.of(Kind.LEASE, job.number, body),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
                then.accept(answer == ShardFold.Answer.APPLIED);
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                then.accept(false);
              }
            }));
  }
}
