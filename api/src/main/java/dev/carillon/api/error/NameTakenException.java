package dev.carillon.api.error;

import dev.carillon.api.IfExists;
import dev.carillon.api.JobId;
import dev.carillon.api.internal.Check;
import java.util.Objects;

/**
 * The caller decides: a job of that name has not ended, and {@link IfExists#FAIL} was asked for; or
 * {@link IfExists#REPLACE} was, and the job is a workflow that has begun. Nothing was written.
 */
public final class NameTakenException extends CarillonException {

  private final String name;
  private final JobId existing;
  private final boolean begun;

  /**
   * For a name and the job that has it.
   *
   * @param name the name
   * @param existing the job that has it
   */
  public NameTakenException(String name, JobId existing) {
    this(name, existing, false, "a name that no live job has; taken by job " + existing);
  }

  private NameTakenException(String name, JobId existing, boolean begun, String expected) {
    super(Check.problem("name", name, expected), null);
    this.name = name;
    this.existing = Objects.requireNonNull(existing, "existing");
    this.begun = begun;
  }

  /**
   * For the name of a workflow that has begun, and is not replaced.
   *
   * @param name the name
   * @param existing the workflow
   * @return the exception
   */
  public static NameTakenException begun(String name, JobId existing) {
    return new NameTakenException(
        name,
        existing,
        true,
        "a job to replace that has not begun; workflow "
            + existing
            + " has, and what it did is to be undone: cancel it first");
  }

  /**
   * Whether the job is a workflow that was to be replaced and has begun.
   *
   * @return true if it is; cancel it, or wait for its end
   */
  public boolean hasBegun() {
    return begun;
  }

  /**
   * The name that is taken.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  /**
   * The job that has the name.
   *
   * @return its id
   */
  public JobId existing() {
    return existing;
  }
}
