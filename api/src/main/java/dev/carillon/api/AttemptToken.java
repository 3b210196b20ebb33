package dev.carillon.api;

import dev.carillon.api.error.StaleAttemptException;
import dev.carillon.api.internal.Check;
import java.util.Objects;

/**
 * The proof of being the current attempt of a job. An outcome or saved state is accepted only with
 * the current token; an older one is refused with {@link StaleAttemptException}, so an attempt that
 * was given up and came back cannot overwrite what its successor did. It also makes a good fencing
 * or idempotency token towards other systems.
 *
 * @param job the job
 * @param epoch the ownership the attempt began under, not negative
 * @param attempt the number of the attempt, from 1
 * @param nonce random, so that the same attempt number begun twice differs
 */
public record AttemptToken(JobId job, long epoch, int attempt, long nonce) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if the epoch is negative or the attempt below 1
   */
  public AttemptToken {
    Objects.requireNonNull(job, "job");
    if (epoch < 0) {
      throw new IllegalArgumentException(Check.problem("epoch", epoch, "at least 0"));
    }
    if (attempt < 1) {
      throw new IllegalArgumentException(Check.problem("attempt", attempt, "at least 1"));
    }
  }
}
