package dev.carillon.api.workflow;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;

/** One try of a step of a workflow. Made by Carillon; thread-safe; valid until the try ends. */
public interface StepContext {

  /**
   * What tells this step from all others: the same at every try, after crashes too, and different
   * for each step. The key to give to other systems, or to the jobs that the step schedules.
   *
   * @return the key
   */
  String key();

  /**
   * The number of this try. One that a crash cut off is repeated under the same number.
   *
   * @return 1 for the first
   */
  int attempt();

  /**
   * Whether the work is no longer wanted: the workflow was cancelled or timed out, or its node is
   * stopping.
   *
   * @return true once it is; it stays so
   */
  boolean cancellationRequested();

  /**
   * Whether the workflow should pause, because somebody paused it or its node stops. A step may
   * ignore it: it goes on to its end, which counts; no further call begins.
   *
   * @return true while a pause is asked for
   */
  boolean pauseRequested();

  /**
   * Reports how far the workflow is: see {@link JobInfo#progress()} and {@link JobHandle#watch}. It
   * is durable within a second and is not part of the history. A report of a smaller part than
   * before changes the message alone. The progress of a workflow that reports none is that of its
   * children, added up.
   *
   * @param done how much is done, not negative
   * @param total of how much, at least {@code done}
   * @param message what is going on; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @throws InvalidArgumentException if a value is out of range
   */
  void progress(long done, long total, String message);

  /**
   * Reports what the workflow is doing, where it is not known how much there is to do. Numbers that
   * were reported before stay.
   *
   * @param message what is going on; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @throws InvalidArgumentException if it is too long
   */
  void progress(String message);
}
