package dev.carillon.api;

import java.time.Instant;
import java.util.Objects;

/**
 * A time at which a job is to run.
 *
 * @param time when it starts, as far as is known: when its next attempt is due, with jitter and
 *     wherever a retry or a reschedule has put it; of a recurring job's later occurrences the time
 *     of the schedule, without the jitter that they will have
 * @param job the job as it is now
 */
public record UpcomingJob(Instant time, JobInfo job) {

  /** Checks the parts. */
  public UpcomingJob {
    Objects.requireNonNull(time, "time");
    Objects.requireNonNull(job, "job");
  }
}
