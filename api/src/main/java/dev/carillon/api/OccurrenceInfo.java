package dev.carillon.api;

import java.time.Instant;
import java.util.Objects;

/**
 * Which occurrence of a recurring job another job is.
 *
 * @param schedule the recurring job
 * @param number 1 for its first occurrence; 0 if it was asked for beside the schedule
 * @param time when it was to be
 */
public record OccurrenceInfo(JobId schedule, long number, Instant time) {

  /** Checks the parts. */
  public OccurrenceInfo {
    Objects.requireNonNull(schedule, "schedule");
    Objects.requireNonNull(time, "time");
  }
}
