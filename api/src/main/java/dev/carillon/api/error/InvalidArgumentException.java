package dev.carillon.api.error;

import dev.carillon.api.internal.Check;
import org.jspecify.annotations.Nullable;

/**
 * The caller's bug: an argument is not acceptable, and never will be. Nothing was done. All refused
 * arguments, null included, throw this exception or one of its subclasses: {@link
 * InvalidJobException} for a job and its parts, {@link InvalidScheduleException} for schedules,
 * {@link BatchTooLargeException} for batches.
 *
 * <p>The message reads {@code name: value (expected: …)}, with text quoted, escaped and cut.
 */
public sealed class InvalidArgumentException extends CarillonException
    permits InvalidJobException, BatchTooLargeException {

  /**
   * With a message.
   *
   * @param message what is wrong, for people: {@code name: value (expected: …)}
   */
  public InvalidArgumentException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people: {@code name: value (expected: …)}
   * @param cause what caused it, or null
   */
  public InvalidArgumentException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * For a refused value.
   *
   * @param name the name of the argument or option
   * @param value what was given
   * @param expected what would be accepted
   * @return the exception, to be thrown
   */
  public static InvalidArgumentException of(String name, @Nullable Object value, String expected) {
    return new InvalidArgumentException(Check.problem(name, value, expected));
  }
}
