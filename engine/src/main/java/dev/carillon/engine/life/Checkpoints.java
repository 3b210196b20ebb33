package dev.carillon.engine.life;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.Outcome;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the resume positions that handlers save: checkpoints, from which the next attempt of the
 * job goes on. No other attempt of the job starts while one is on its way to the journal.
 */
public final class Checkpoints {
  private final NodeEnvironment env;
  private final Committer committer;
  private final JobLife life;

  public Checkpoints(NodeEnvironment env, Committer committer, JobLife life) {
    this.env = env;
    this.committer = committer;
    this.life = life;
  }

  /**
   * Keeps the resume position of one of this node's attempts; {@code answer} hears true once it is
   * durable, false where the attempt was replaced or is over.
   */
  public void save(Attempt attempt, byte[] state, Consumer<Outcome<Boolean>> answer) {
    NodeJob job = attempt.job();
    Shard shard = job.shard();
    if (attempt.over || !shard.owned() || job.revision != attempt.revision()) {
      answer.accept(Outcome.ok(false));
      return;
    }
    OperationBody.Save save =
        new OperationBody.Save(attempt.number(), attempt.revision(), env.wallMicros(), state);
    job.busy++;
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.SAVE, job.number, save.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
                settled(job);
                answer.accept(Outcome.ok(applied == ShardFold.Answer.APPLIED));
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                settled(job);
                answer.accept(loss.outcome(why));
              }
            }));
  }

  /** A job whose attempt ended meanwhile was passed over, and comes back. */
  void settled(NodeJob job) {
    job.busy--;
    life.goOnIfPassedOver(job);
    Shard shard = job.shard;
    boolean waits = job.attempt == null && job.phase() != NodeJob.Phase.GONE;
    if (waits && job.cancelRequested() && shard != null && shard.owned()) {
      life.cancels().endRequested(shard, job); // that was put off too
    }
  }
}
