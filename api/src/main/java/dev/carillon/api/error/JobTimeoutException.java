package dev.carillon.api.error;

import dev.carillon.api.JobId;
import java.time.Duration;
import java.util.Objects;

/**
 * The caller decides: the job whose result was awaited has not ended in time. The job goes on;
 * waiting again is safe.
 */
public final class JobTimeoutException extends CarillonException {

  private final JobId id;

  /**
   * For a wait that was too short.
   *
   * @param id the job
   * @param waited how long was waited
   */
  public JobTimeoutException(JobId id, Duration waited) {
    super("job " + id + ": not ended (expected: an end within " + waited + ")", null);
    this.id = Objects.requireNonNull(id, "id");
  }

  /**
   * The job, which goes on.
   *
   * @return its id
   */
  public JobId id() {
    return id;
  }
}
