package dev.carillon.engine.attempt;

import dev.carillon.engine.Node;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import java.util.function.Consumer;

/** Runs handlers beside the loop. All methods are called on the loop and return at once. */
public interface AttemptRunner {

  /** Runs the handler; exactly one {@link Node#finished} follows, also when it throws. */
  void start(Attempt attempt);

  /** Interrupts the handler's thread, if it still runs. */
  void interrupt(Attempt attempt);

  /**
   * Asks what follows an attempt that has taken longer than its timeout; its handler may still run.
   *
   * @param answer to be called on the loop, at once or later; only the first answer counts
   */
  default void judgeTimeout(Attempt attempt, Consumer<AttemptOutcome.Verdict> answer) {
    answer.accept(new AttemptOutcome.Verdict.ByPolicy());
  }

  /**
   * An entry of a workflow's history is durable. What the runner keeps of a workflow between its
   * activations is a cache: it is right as long as it was told of every entry.
   *
   * @param count how many entries the history has with this one
   */
  default void told(JobRef job, int count, HistoryEntry entry) {}

  /** The workflow has ended, began anew or left this node: what is kept of it may go. */
  default void forget(JobRef job) {}
}
