package dev.carillon.replay;

import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.WorkflowTurn;
import java.util.function.Consumer;

/**
 * An attempt of the job: the code runs from a start or the end of a wait to the next wait or its
 * end. Thread-safe; nothing here blocks.
 */
public interface Activation {

  /** The answer to a checkpoint. */
  enum CheckpointAnswer {
    /** Written, and {@link WorkflowRun#told} was called for each entry. */
    DURABLE,
    /** Not written, or nobody knows: the code must not go on. */
    LOST
  }

  /** The code begins or goes on; called on its thread. */
  void entered();

  /** Writes a turn. The answer may come on any thread, also before this returns. */
  void checkpoint(WorkflowTurn turn, Consumer<CheckpointAnswer> answer);

  /** It is over; called once, on the workflow's thread, which touches it no more. */
  void ended(AttemptOutcome outcome);

  /** Whether no further call is to begin. */
  boolean pauseRequested();

  /** Whether steps should end early. */
  boolean cancellationRequested();

  /** What follows a failure that is not recorded. */
  AttemptOutcome.Verdict verdict(Throwable thrown);
}
