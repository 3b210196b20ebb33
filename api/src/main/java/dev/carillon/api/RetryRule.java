package dev.carillon.api;

import java.time.Instant;
import java.util.Optional;

/**
 * A handler's own answer to a failed attempt, asked before any policy. Called on the attempt's
 * thread. One that throws, or names no due time, counts as not having been there: the policy
 * decides. Not asked about a {@link NotRetryableException}, nor about a timeout, which is noticed
 * while the handler still runs.
 */
@FunctionalInterface
public interface RetryRule {

  /**
   * When to try again.
   *
   * @param job the failed attempt
   * @param error what it failed with
   * @return the time of the next attempt, at once if it has passed; or empty to give up, which
   *     leaves the job as a dead letter
   */
  Optional<Instant> retryAt(JobContext job, Throwable error);
}
