package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.util.Objects;

/** What came of a cancel, precisely and durably: it is still so after a crash. */
public sealed interface CancelResult {

  /** The job has ended as {@link JobState#CANCELLED}; no attempt runs or will. */
  record Cancelled() implements CancelResult {}

  /**
   * An attempt runs and was asked to stop. The job ends as cancelled when it stops, unless it
   * finishes its work first; it is not retried.
   */
  record Stopping() implements CancelResult {}

  /**
   * The job had ended before; nothing changed.
   *
   * @param outcome how it ended
   */
  record Ended(JobState outcome) implements CancelResult {
    /**
     * Checks the outcome.
     *
     * @throws IllegalArgumentException if it is not an end
     */
    public Ended {
      Objects.requireNonNull(outcome, "outcome");
      if (!outcome.ended()) {
        throw new IllegalArgumentException(Check.problem("outcome", outcome, "an ended state"));
      }
    }
  }

  /** There is no such job, or it ended and its retention is over. */
  record NotFound() implements CancelResult {}
}
