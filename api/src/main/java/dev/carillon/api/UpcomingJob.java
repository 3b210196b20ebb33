package dev.carillon.api;

import java.time.Instant;
import java.util.Objects;

/**
 * A time at which a job is to run.
 *
 * @param time when; of a recurring job one of its occurrences, without jitter
 * @param job the job as it is now
 */
public record UpcomingJob(Instant time, JobInfo job) {

  /** Checks the parts. */
  public UpcomingJob {
    Objects.requireNonNull(time, "time");
    Objects.requireNonNull(job, "job");
  }
}
