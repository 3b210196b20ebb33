package dev.carillon.api.error;

import dev.carillon.api.JobError;
import dev.carillon.api.internal.Check;
import java.util.List;
import java.util.Objects;

/**
 * A step of a workflow has failed for good: its policy has no try left, or the failure is not
 * retried. Made from what is recorded, so it is the same when the code is run again; the exception
 * that the body threw is not its cause. Where it leaves the handler the job has failed.
 */
public final class StepFailedException extends CarillonException {
  private final String step;
  private final JobError error;
  private final List<String> kinds;

  /**
   * For a step that failed; made by Carillon.
   *
   * @param step the name of the step
   * @param error what its last try failed with
   * @param kinds the names of the error's class and its superclasses, the class first
   */
  public StepFailedException(String step, JobError error, List<String> kinds) {
    super(message(step, error), null);
    this.step = step;
    this.error = error;
    this.kinds = List.copyOf(kinds);
  }

  /**
   * The step.
   *
   * @return its name
   */
  public String step() {
    return step;
  }

  /**
   * What its last try failed with.
   *
   * @return the error as it was recorded
   */
  public JobError error() {
    return error;
  }

  /**
   * Whether the step failed with an exception of a class or of a subclass of it. The names that
   * were recorded are compared: of the exception's class and its superclasses, not of interfaces.
   *
   * @param type the class
   * @return true if it did
   */
  public boolean is(Class<? extends Throwable> type) {
    return kinds.contains(Check.argument("type", type).getName());
  }

  private static String message(String step, JobError error) {
    Objects.requireNonNull(step, "step");
    return "step %s: %s%s (expected: a result)"
        .formatted(
            Check.shown(step),
            error.type(),
            error.message().isEmpty() ? "" : ": " + error.message());
  }
}
