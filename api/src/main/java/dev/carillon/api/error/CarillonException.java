package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * The root of what Carillon throws; all of it is unchecked. The type says who acts:
 *
 * <ul>
 *   <li>the caller has a bug: every {@link InvalidArgumentException} (of which {@link
 *       InvalidJobException}, {@link InvalidScheduleException} and {@link BatchTooLargeException}
 *       are some), {@link ClosedException}, {@link CodecException};
 *   <li>the caller decides: {@link NameTakenException}, {@link JobNotFoundException}, {@link
 *       JobFailedException}, {@link JobTimeoutException}, {@link WaitInterruptedException}, and in
 *       a workflow {@link StepFailedException} and {@link ChildFailedException};
 *   <li>try again, nothing was done: every {@link TransientException};
 *   <li>try again under the same name or key, it may have been done: {@link
 *       OutcomeUnknownException};
 *   <li>stop, another attempt has taken over: {@link StaleAttemptException};
 *   <li>an operator must act: {@link StoreRefusedException}, {@link StoreCorruptedException},
 *       {@link StoreVersionException}, {@link StoreLockedException}.
 * </ul>
 *
 * <p>{@link NotRetryableException}, {@link RetryAfterException} and {@link RunAgainException} go
 * the other way: handlers throw them. {@link WorkflowCancelledException} passes through the code of
 * a workflow.
 */
public abstract class CarillonException extends RuntimeException {

  /**
   * With a message and perhaps a cause.
   *
   * @param message what is wrong, for people
   * @param cause what caused it, or null
   */
  protected CarillonException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
