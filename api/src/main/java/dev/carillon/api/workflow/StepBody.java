package dev.carillon.api.workflow;

import dev.carillon.api.error.NotRetryableException;
import org.jspecify.annotations.Nullable;

/**
 * The code of a step that has a result. It may do whatever it wants, block too, but must not use
 * the {@link Workflow}: that is refused with an {@link IllegalStateException}.
 *
 * <p>It is run again after a failure, by the step's policy, and after a crash before its result was
 * durable: make it idempotent, with {@link StepContext#key()} where another system needs a key.
 *
 * @param <T> the result
 */
@FunctionalInterface
public interface StepBody<T extends @Nullable Object> {

  /**
   * Makes one try.
   *
   * @param step the try, valid until this returns
   * @return the result, which is recorded
   * @throws Exception to fail the try; {@link NotRetryableException} to fail the step for good
   */
  @Nullable T run(StepContext step) throws Exception;
}
