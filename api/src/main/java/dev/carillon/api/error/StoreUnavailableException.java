package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * Transient: the store cannot be reached, is full or cannot be written. Definitely not applied;
 * trying again later is safe.
 */
public final class StoreUnavailableException extends TransientException {

  /**
   * With a message.
   *
   * @param message what is wrong, for people
   */
  public StoreUnavailableException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people
   * @param cause what caused it, or null
   */
  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
