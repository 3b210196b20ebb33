package dev.carillon.api;

import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
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

  /**
   * An unmodifiable list that makes its elements when they are read. A {@link JobInfo} keeps it as
   * it is and does not copy it, so a snapshot of a job that waits for thousands is cheap.
   *
   * @param size how many there are
   * @param element makes the one at an index; called by any thread, each call with the same index
   *     must give an equal element
   * @return the list
   */
  public static List<DependencyInfo> listOf(int size, IntFunction<DependencyInfo> element) {
    return size == 0 ? List.of() : new DependencyList(size, element);
  }
}
