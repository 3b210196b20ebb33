package dev.carillon.api.workflow;

import dev.carillon.api.error.NotRetryableException;

/**
 * The code of a step that has no result, and of a compensation. See {@link StepBody} for what it
 * must bear.
 */
@FunctionalInterface
public interface StepAction {

  /**
   * Makes one try.
   *
   * @throws Exception to fail the try; {@link NotRetryableException} to fail the step for good
   */
  void run() throws Exception;

  /** The code of a step that has no result and looks at its try. */
  @FunctionalInterface
  interface InContext {

    /**
     * Makes one try.
     *
     * @param step the try, valid until this returns
     * @throws Exception to fail the try; {@link NotRetryableException} to fail the step for good
     */
    void run(StepContext step) throws Exception;
  }
}
