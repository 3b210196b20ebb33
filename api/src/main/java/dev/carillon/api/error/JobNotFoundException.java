package dev.carillon.api.error;

import dev.carillon.api.JobId;
import dev.carillon.api.internal.Check;
import java.util.Objects;

/** The caller decides: there is no such job, or it ended and its retention is over. */
public final class JobNotFoundException extends CarillonException {

  private final JobId id;

  /**
   * For an id that has no job.
   *
   * @param id the id
   */
  public JobNotFoundException(JobId id) {
    super(Check.problem("job", id, "an existing job within its retention"), null);
    this.id = Objects.requireNonNull(id, "id");
  }

  /**
   * The id that has no job.
   *
   * @return the id
   */
  public JobId id() {
    return id;
  }
}
