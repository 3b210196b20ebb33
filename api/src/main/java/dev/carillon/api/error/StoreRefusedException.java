package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * Permanent: the store cannot be opened as it was asked for. The user, the password, the database
 * or the host is wrong, or the user lacks a right. The message has the server's own words. Nothing
 * was changed; opening it again fails in the same way until somebody changes that.
 */
public final class StoreRefusedException extends CarillonException {

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people
   * @param cause what the server or the driver said, or null
   */
  public StoreRefusedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
