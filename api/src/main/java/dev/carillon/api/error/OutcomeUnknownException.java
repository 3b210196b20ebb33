package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * It is not known whether the request was applied: the store did not answer in time, or the caller
 * was interrupted while waiting. Cancelling or saving again is always safe. Scheduling again under
 * the same name or idempotency key cannot duplicate the job; without one it can, and so can
 * triggering and backfilling. The message says what holds for the request that was made.
 */
public final class OutcomeUnknownException extends CarillonException {

  private static final String SCHEDULING_AGAIN =
      "scheduling again under the same name or idempotency key cannot duplicate";

  private final Again again;

  /** What asking again does. */
  public enum Again {
    /** Nothing that one request would not do. */
    SAFE,
    /** The same, under the same name or idempotency key; without one it may make a second job. */
    SAFE_WITH_KEY,
    /** It adds as much once more. */
    ADDS
  }

  /**
   * Of a request to schedule, with a message.
   *
   * @param message what was asked and what is missing, for people
   */
  public OutcomeUnknownException(String message) {
    this(message, null);
  }

  /**
   * Of a request to schedule, with a message and a cause.
   *
   * @param message what was asked and what is missing, for people
   * @param cause what caused it, or null
   */
  public OutcomeUnknownException(String message, @Nullable Throwable cause) {
    this(message, Again.SAFE_WITH_KEY, SCHEDULING_AGAIN, cause);
  }

  private OutcomeUnknownException(
      String message, Again again, String how, @Nullable Throwable cause) {
    super(message + " (it may or may not have been applied; " + how + ")", cause);
    this.again = again;
  }

  /**
   * What asking again does.
   *
   * @return whether the same request may be made once more
   */
  public Again again() {
    return again;
  }

  /**
   * Of a request that may be repeated whatever became of it, such as a cancel.
   *
   * @param message what was asked and what is missing, for people
   * @return the exception, to be thrown
   */
  public static OutcomeUnknownException ofRepeatable(String message) {
    return new OutcomeUnknownException(message, Again.SAFE, "asking again is safe", null);
  }

  /**
   * Of a request that adds something each time it is made, such as a backfill.
   *
   * @param message what was asked and what is missing, for people
   * @return the exception, to be thrown
   */
  public static OutcomeUnknownException ofAdding(String message) {
    return new OutcomeUnknownException(
        message, Again.ADDS, "look before you ask again, which would add as much once more", null);
  }
}
