package dev.carillon.api.workflow;

import dev.carillon.api.JobId;

/**
 * A job that a workflow started and whose end it can await. It ends with its parent at the latest:
 * a parent that returns waits for its children, one that fails or is cancelled cancels them.
 *
 * @param <O> the child's result
 */
public interface Child<O> extends Promise<O> {

  /**
   * The child. Waits until it is durable.
   *
   * @return the id of the job
   */
  JobId id();
}
