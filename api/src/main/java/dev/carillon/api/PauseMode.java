package dev.carillon.api;

import dev.carillon.api.workflow.StepContext;

/** What a pause does to what runs. */
public enum PauseMode {
  /**
   * Handlers and steps go on to their end, which counts. They are told of the pause ({@link
   * JobContext#pauseRequested}, {@link StepContext#pauseRequested}). The default.
   */
  AFTER_STEPS,

  /**
   * Handlers and steps are interrupted. A try of a step that ends by that does not count and is
   * made again after the resume, and neither does the attempt of a handler; code of a workflow that
   * runs is unwound and runs again. A step at most once that is cut off has failed.
   */
  NOW
}
