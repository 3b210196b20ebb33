package dev.carillon.api;

import dev.carillon.api.error.NotRetryableException;
import java.time.Instant;
import java.util.Optional;

/**
 * A handler's own answer to a failed attempt, asked before any policy. Called on the attempt's
 * thread; about a timeout, of which it is told as a {@link java.util.concurrent.TimeoutException},
 * on another one while the handler may still run. One that throws, names a time that is no due
 * time, or has not answered ten seconds after a timeout, counts as not having been there: the
 * policy decides. Not asked about a {@link NotRetryableException}.
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
