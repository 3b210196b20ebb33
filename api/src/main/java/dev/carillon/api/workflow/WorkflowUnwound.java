package dev.carillon.api.workflow;

/**
 * Ends the thread of a workflow whose code does not go on here: its node stops or has lost the job,
 * the attempt timed out, the code asks for what its history does not have, its thread is needed
 * elsewhere, or it {@linkplain Workflow#continueAsNew began anew}. Thrown by a call of the
 * workflow's context, and by every call after it; nothing is recorded of it. The workflow is not
 * over: its code is run again from its history.
 *
 * <p>It is an {@link Error}, so that {@code catch (Exception)} does not see it. Code that catches
 * {@code Throwable} must throw it on; {@code finally} runs, so do nothing there that counts.
 */
public final class WorkflowUnwound extends Error {

  /**
   * With the reason; made by Carillon.
   *
   * @param reason why, for people
   */
  public WorkflowUnwound(String reason) {
    super(reason, null, false, false);
  }
}
