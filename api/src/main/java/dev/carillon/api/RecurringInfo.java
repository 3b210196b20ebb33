package dev.carillon.api;

import dev.carillon.api.schedule.Schedule;
import java.time.Instant;
import java.util.Objects;

/**
 * Where a recurring job stands.
 *
 * @param schedule when it has its occurrences
 * @param count how many have taken place, however they ended; those passed over have not
 * @param nextTime when the next one is to be, or the one that runs was; without jitter. Of a job
 *     whose schedule is over, when the last one was; of one that ended sooner, when the next one
 *     would have been
 * @param version how often somebody gave it another definition: input, schedule, priority or
 *     anything else that was declared. A pause and the occurrences change nothing here
 */
public record RecurringInfo(Schedule schedule, long count, Instant nextTime, int version) {

  /** Checks the parts. */
  public RecurringInfo {
    Objects.requireNonNull(schedule, "schedule");
    Objects.requireNonNull(nextTime, "nextTime");
  }
}
