package dev.carillon.engine.life;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.Outcome;
import java.util.List;
import java.util.function.Consumer;

/**
 * The event histories of this node's workflows: writes what their code did (checkpoints) and reads
 * it back for a replay.
 *
 * <p>A checkpoint is durable before the code goes on. It names how many entries the code had made
 * before; the fold refuses one that names another number, so code that was left behind by a
 * take-over or a replay writes nothing.
 */
public final class Workflows {
  private final Attempts attempts;
  private final Checkpoints checkpoints;
  private final HistoryReads histories;

  public Workflows(NodeEnvironment env, Attempts attempts, Checkpoints checkpoints) {
    this.histories = new HistoryReads(env);
    this.attempts = attempts;
    this.checkpoints = checkpoints;
  }

  /**
   * Makes what the code of a workflow did durable; {@code answer} hears true once it is, false
   * where the attempt was replaced or is over.
   */
  public void checkpoint(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer) {
    NodeJob job = attempt.job();
    Shard shard = job.shard();
    if (attempt.over || !shard.owned() || job.revision != attempt.revision()) {
      answer.accept(Outcome.ok(false));
      return;
    }
    job.busy++;
    job.checkpoints++;
    attempts
        .outcomes
        .workflows()
        .write(
            attempt,
            turn,
            outcome -> {
              job.checkpoints--;
              checkpoints.settled(job);
              answer.accept(outcome);
            });
  }

  /** Brings the entries that the attempt's workflow had when it began. */
  public void history(Attempt attempt, Consumer<Outcome<List<HistoryEntry>>> answer) {
    histories.read(attempt, answer);
  }
}
