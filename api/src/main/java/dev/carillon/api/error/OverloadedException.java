package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * Transient: too much is waiting for the store already, so the request was turned away at once or
 * after waiting for its turn. Definitely not applied; trying again later, more slowly, is safe.
 */
public final class OverloadedException extends TransientException {

  /**
   * With a message.
   *
   * @param message what is wrong, for people
   */
  public OverloadedException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people
   * @param cause what caused it, or null
   */
  public OverloadedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
