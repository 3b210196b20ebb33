package dev.carillon;

import dev.carillon.api.JobHandle;
import java.util.List;

/**
 * Jobs that were scheduled together, and the one that starts when they have ended.
 *
 * @param whenDone the job that starts when all members have ended
 * @param members the others, in the order they were given
 * @param <O> the result of that job
 */
public record JobGroup<O>(JobHandle<O> whenDone, List<JobHandle<?>> members) {

  /** Copies the list. */
  public JobGroup {
    members = List.copyOf(members);
  }
}
