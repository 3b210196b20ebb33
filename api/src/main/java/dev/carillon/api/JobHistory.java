package dev.carillon.api;

import java.util.List;
import java.util.Objects;

/**
 * A job and what happened to it, read from the same journal that runs it. Kept until the retention
 * of the job is over.
 *
 * @param job the job as it is now
 * @param events what happened, oldest first; unmodifiable
 */
public record JobHistory(JobInfo job, List<JobEvent> events) {

  /** Copies the events. */
  public JobHistory {
    Objects.requireNonNull(job, "job");
    events = List.copyOf(events);
  }
}
