package dev.carillon.api;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.internal.Check;

/**
 * The identity of a job: opaque text, final once given, never given twice. It may be stored, sent
 * and used on any node of the same store; nothing should be read out of it.
 *
 * @param value not blank, at most {@link Limits#JOB_ID_MAX_CHARS} characters
 */
public record JobId(String value) {

  /**
   * Wraps an id that {@link #value()} gave.
   *
   * @throws InvalidArgumentException if the value is blank or too long
   */
  public JobId {
    Check.argument("job id", value);
    if (value.isBlank() || value.length() > Limits.JOB_ID_MAX_CHARS) {
      throw InvalidArgumentException.of(
          "job id", value, "not blank, at most " + Limits.JOB_ID_MAX_CHARS + " characters");
    }
  }

  /** The bare value. */
  @Override
  public String toString() {
    return value;
  }
}
