package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A failed attempt, as a {@link JobListener} is told of it.
 *
 * @param job the job as it is now: it waits for its next attempt, or has ended
 * @param attempt the number of the attempt that failed, from 1
 * @param error the error with its stack, and the node that made the attempt
 * @param nextAt when the next attempt is due; null where none follows
 */
public record AttemptFailure(JobInfo job, int attempt, JobError error, @Nullable Instant nextAt) {

  /**
   * Checks the parts.
   *
   * @throws IllegalArgumentException if the attempt is not positive
   */
  public AttemptFailure {
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(error, "error");
    if (attempt < 1) {
      throw new IllegalArgumentException(Check.problem("attempt", attempt, "at least 1"));
    }
  }
}
