package dev.carillon.api.error;

import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The job that a result was awaited of ended otherwise: failed, cancelled, expired or dead. It is
 * not retried any more.
 */
public final class JobFailedException extends CarillonException {

  private final JobId id;
  private final JobState state;
  private final @Nullable JobError error;

  /**
   * For a job that ended without a result.
   *
   * @param id the job
   * @param state how it ended
   * @param error what its last attempt failed with, or null
   * @param reason why it was cancelled, expired or given up, or null
   */
  public JobFailedException(
      JobId id, JobState state, @Nullable JobError error, @Nullable String reason) {
    super(message(id, state, error, reason), null);
    this.id = Objects.requireNonNull(id, "id");
    this.state = Objects.requireNonNull(state, "state");
    this.error = error;
  }

  /**
   * The job.
   *
   * @return its id
   */
  public JobId id() {
    return id;
  }

  /**
   * How the job ended.
   *
   * @return an ended state other than {@link JobState#SUCCEEDED}
   */
  public JobState state() {
    return state;
  }

  /**
   * What the last attempt failed with.
   *
   * @return the error, or null if no attempt failed
   */
  public @Nullable JobError error() {
    return error;
  }

  private static String message(
      JobId id, JobState state, @Nullable JobError error, @Nullable String reason) {
    var message = new StringBuilder("job ").append(id).append(": ").append(state);
    if (reason != null && !reason.isEmpty()) {
      message.append(", ").append(reason);
    }
    if (error != null) {
      message.append(", ").append(error.type()).append(": ").append(error.message());
    }
    return message.append(" (expected: SUCCEEDED)").toString();
  }
}
