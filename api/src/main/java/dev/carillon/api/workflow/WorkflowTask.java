package dev.carillon.api.workflow;

import dev.carillon.api.TaskType;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.StepFailedException;
import org.jspecify.annotations.Nullable;

/**
 * The code of a workflow without a result: jobs of a {@link TaskType} that remember what they have
 * done. See {@link WorkflowHandler} for what it must bear.
 *
 * @param <I> the input
 */
@FunctionalInterface
public interface WorkflowTask<I extends @Nullable Object> {

  /**
   * Runs the workflow.
   *
   * @param input the input, decoded anew each time
   * @param wf the workflow's context, valid until this returns and on this thread alone
   * @throws Exception to fail. A {@link StepFailedException}, a {@link ChildFailedException} or a
   *     {@link NotRetryableException} ends the job; any other is a failed attempt, after which the
   *     job's policy decides: the next attempt repeats no recorded step
   */
  void run(I input, Workflow wf) throws Exception;
}
