package dev.carillon.api;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A job and what happened to it, read from the same journal that runs it. Kept until the retention
 * of the job is over.
 *
 * @param job the job as it is now
 * @param events what happened, oldest first, at most {@link Limits#HISTORY_MAX_EVENTS};
 *     unmodifiable
 * @param next the cursor of the next page, which has the events before these; null if there are
 *     none
 */
public record JobHistory(JobInfo job, List<JobEvent> events, @Nullable String next) {

  /** Copies the events. */
  public JobHistory {
    Objects.requireNonNull(job, "job");
    events = List.copyOf(events);
  }
}
