package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * The caller's bug, or bad timing: this Carillon is closed and does nothing any more. What was
 * scheduled before is durable and goes on at the next start.
 */
public final class ClosedException extends CarillonException {

  /**
   * With a message.
   *
   * @param message what is wrong, for people
   */
  public ClosedException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people
   * @param cause what caused it, or null
   */
  public ClosedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
