package dev.carillon.api;

import java.util.Objects;

/**
 * The caller decides: a job of that name has not ended, and {@link IfExists#FAIL} was asked for.
 * Nothing was written.
 */
public final class NameTakenException extends CarillonException {

  private final String name;
  private final JobId existing;

  /**
   * For a name and the job that has it.
   *
   * @param name the name
   * @param existing the job that has it
   */
  public NameTakenException(String name, JobId existing) {
    super(
        Check.problem("name", name, "a name that no live job has; taken by job " + existing), null);
    this.name = name;
    this.existing = Objects.requireNonNull(existing, "existing");
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
