package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * The caller's thread was interrupted while it only waited; nothing was changed by that and the job
 * goes on. The thread's interrupt flag is set. (An interrupt while something is being written gives
 * {@link OutcomeUnknownException} instead.)
 */
public final class WaitInterruptedException extends CarillonException {

  /**
   * With what was waited for.
   *
   * @param message what was waited for, for people
   * @param cause the interrupt, or null
   */
  public WaitInterruptedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
