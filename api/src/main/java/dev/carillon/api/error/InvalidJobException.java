package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * The caller's bug: a job or one of its parts is not acceptable, and never will be. Nothing was
 * written. The message reads {@code name: value (expected: …)}.
 */
public sealed class InvalidJobException extends InvalidArgumentException
    permits InvalidScheduleException {

  /**
   * With a message.
   *
   * @param message what is wrong, for people
   */
  public InvalidJobException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people
   * @param cause what caused it, or null
   */
  public InvalidJobException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
