package dev.carillon.api;

import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.TransientException;
import java.util.List;
import java.util.Optional;

/**
 * What application code needs of Carillon: schedule jobs, look at them, cancel them. {@code
 * Carillon} implements it. Inject this type where code only schedules; a test then passes a fake,
 * such as {@code RecordingScheduler} of the test kit, or one of a few lines.
 *
 * <p>Implementations are thread-safe.
 */
public interface JobScheduler {

  /**
   * Schedules a job: durable when this returns.
   *
   * @param job the request
   * @param <O> the result
   * @return the job, or the one that already has its name or key
   * @throws InvalidArgumentException if the job is not acceptable; not scheduled
   * @throws CodecException if its input cannot be encoded; not scheduled
   * @throws NameTakenException if its name is taken and it says so; not scheduled
   * @throws TransientException if it was not scheduled and another try may succeed
   * @throws OutcomeUnknownException if it is not known whether it was scheduled
   */
  <O> JobHandle<O> schedule(Job<O> job);

  /**
   * Schedules jobs together: all of them or none, durable when this returns.
   *
   * @param jobs at most {@link Limits#BATCH_MAX_JOBS}
   * @return the jobs, in the same order
   * @throws InvalidArgumentException if one of them, or all together, are not acceptable; nothing
   *     was written
   */
  List<JobHandle<?>> scheduleAll(List<? extends Job<?>> jobs);

  /**
   * Asks that a job does not run, or stops. Asking again is safe.
   *
   * @param id the job
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return what came of it
   * @throws TransientException if the cancel was not recorded
   * @throws OutcomeUnknownException if it is not known whether the cancel was recorded
   */
  CancelResult cancel(JobId id, String reason);

  /**
   * Asks that a job does not run, or stops, without giving a reason.
   *
   * @param id the job
   * @return what came of it
   */
  default CancelResult cancel(JobId id) {
    return cancel(id, "");
  }

  /**
   * What is known about a job now.
   *
   * @param id the job
   * @return a snapshot, or empty if there is no such job or its retention is over
   */
  Optional<JobInfo> get(JobId id);

  /**
   * The job that has a name now. A name is free once its job has ended.
   *
   * @param namespace the namespace, such as {@link Job#DEFAULT_NAMESPACE}
   * @param name the name
   * @return a snapshot, or empty if no job that has not ended has the name
   */
  Optional<JobInfo> get(String namespace, String name);
}
