package dev.carillon.api.error;

import dev.carillon.api.workflow.Workflow;

/**
 * The workflow was cancelled, has expired or is given up: thrown by the first call that has no
 * recorded result, and by every call after it. Let it pass: the workflow's compensations then run.
 * What must be undone belongs into {@link Workflow#onFailure}, not into {@code catch} or {@code
 * finally}.
 */
public final class WorkflowCancelledException extends CarillonException {

  /**
   * With the reason; made by Carillon.
   *
   * @param reason why, for people; may be empty
   */
  public WorkflowCancelledException(String reason) {
    super("workflow: cancelled" + (reason.isEmpty() ? "" : ", " + reason), null);
  }
}
