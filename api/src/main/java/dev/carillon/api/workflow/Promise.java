package dev.carillon.api.workflow;

import dev.carillon.api.Limits;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.error.WorkflowCancelledException;
import java.time.Duration;
import java.util.Optional;

/**
 * What a workflow waits for: the result of a step that was started, a child's end, a signal, or a
 * timer. Made by a {@link Workflow} and to be used on its thread alone.
 *
 * <p>There is no way to ask whether it is there already: the answer would differ from one run of
 * the code to the next. {@link Workflow#first} takes what came first.
 *
 * @param <T> the value
 */
public interface Promise<T> {

  /**
   * Waits for it. The workflow holds no slot meanwhile, unless steps that it started run.
   *
   * @return the value, the same on every call; null where the step or child returned null, and of a
   *     timer
   * @throws StepFailedException if the step has failed for good
   * @throws ChildFailedException if the child ended otherwise than succeeded
   * @throws WorkflowCancelledException if the workflow was cancelled before it was there
   */
  T join();

  /**
   * Waits for it, but no longer than that.
   *
   * @param atMost from zero to {@link Limits#PERIOD_MAX}; a timer of the workflow, so it is durable
   * @return the value; empty where it was not there in time, and where there is no value
   * @throws StepFailedException if the step has failed for good
   * @throws ChildFailedException if the child ended otherwise than succeeded
   * @throws WorkflowCancelledException if the workflow was cancelled before either
   * @throws InvalidArgumentException if the time is out of range
   */
  Optional<T> join(Duration atMost);
}
