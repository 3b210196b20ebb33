package dev.carillon.replay;

import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepContext;
import dev.carillon.engine.job.Report;
import org.jspecify.annotations.Nullable;

/**
 * What a run of a workflow needs of the node that it runs on. Thread-safe; nothing here blocks but
 * {@link RunThreads#park}.
 */
public interface WorkflowHost extends StoredForms, RunThreads {

  /** The job that runs. */
  JobFacts job();

  /** The wall clock, in microseconds since 1970. */
  long wallMicros();

  /** A random number, of what is recorded once it was drawn. */
  long random();

  /**
   * Runs the body of a step for one try, and what wraps it.
   *
   * @throws Exception what fails the try
   */
  default @Nullable Object runStep(String name, StepContext step, StepBody<?> body)
      throws Exception {
    return body.run(step);
  }

  /** The workflow reports something of itself. */
  void report(Report report);

  /** Something that can be called off. */
  @FunctionalInterface
  interface Cancellable {
    void cancel();
  }
}
