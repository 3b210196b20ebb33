package dev.carillon.api.workflow;

import dev.carillon.api.JobType;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.StepFailedException;
import org.jspecify.annotations.Nullable;

/**
 * The code of a workflow: jobs of a {@link JobType} that remember what they have done.
 *
 * <p>It is run from its beginning again after a crash, a failure or a long wait; every call of the
 * {@link Workflow} then returns what it returned before. So between these calls it may only do what
 * comes out the same each time. One handler serves many workflows at a time, each on a virtual
 * thread of its own, so it must be thread-safe.
 *
 * @param <I> the input
 * @param <O> the result
 */
@FunctionalInterface
public interface WorkflowHandler<I extends @Nullable Object, O extends @Nullable Object> {

  /**
   * Runs the workflow.
   *
   * @param input the input, decoded anew each time
   * @param wf the workflow's context, valid until this returns and on this thread alone
   * @return the result, which is durable before anyone else sees it
   * @throws Exception to fail. A {@link StepFailedException}, a {@link ChildFailedException} or a
   *     {@link NotRetryableException} ends the job; any other is a failed attempt, after which the
   *     job's policy decides: the next attempt repeats no recorded step
   */
  @Nullable O run(I input, Workflow wf) throws Exception;
}
