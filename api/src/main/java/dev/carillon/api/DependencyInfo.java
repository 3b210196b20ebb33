package dev.carillon.api;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A job that another waits for.
 *
 * @param job the job that is waited for
 * @param condition how it must have ended
 * @param met whether it has ended, as far as the waiting job was told
 * @param state how it ended; null where it has not, or nobody knows any more
 */
public record DependencyInfo(
    JobId job, Dependency.Condition condition, boolean met, @Nullable JobState state) {

  /** Checks the parts. */
  public DependencyInfo {
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(condition, "condition");
  }
}
