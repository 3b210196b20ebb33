package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler to say that no further attempt can succeed: the job is not retried, whatever
 * attempts its policy has left. May be extended.
 */
public class NotRetryableException extends CarillonException {

  /**
   * With a message.
   *
   * @param message what is wrong, for people
   */
  public NotRetryableException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people
   * @param cause what caused it, or null
   */
  public NotRetryableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * With a cause, whose text is the message.
   *
   * @param cause why no attempt can succeed
   */
  public NotRetryableException(Throwable cause) {
    this(cause.toString(), cause);
  }
}
