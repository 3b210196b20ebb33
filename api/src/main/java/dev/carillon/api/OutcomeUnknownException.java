package dev.carillon.api;

import org.jspecify.annotations.Nullable;

/**
 * It is not known whether the request was applied: the store did not answer in time, or the caller
 * was interrupted while waiting. Scheduling again under the same name or idempotency key cannot
 * duplicate the job; without one it can. The message says so too.
 */
public final class OutcomeUnknownException extends CarillonException {

  /**
   * With a message.
   *
   * @param message what was asked and what is missing, for people
   */
  public OutcomeUnknownException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what was asked and what is missing, for people
   * @param cause what caused it, or null
   */
  public OutcomeUnknownException(String message, @Nullable Throwable cause) {
    super(
        message
            + " (it may or may not have been applied; scheduling again under the same name or"
            + " idempotency key cannot duplicate)",
        cause);
  }
}
