package dev.carillon;

import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.workflow.WorkflowHandler;
import dev.carillon.api.workflow.WorkflowTask;
import org.jspecify.annotations.Nullable;

/**
 * Runs the code of a workflow against a recorded history, and against nothing else: no step runs,
 * no child starts, nothing is written. What {@code replay} of the test kit is made of.
 *
 * <p>The code goes as far as the history does. What it asks for beyond is reported and not done.
 */
public final class WorkflowReplay {
  private WorkflowReplay() {}

  /** How the code met the history. */
  public enum End {
    /** It returned. */
    RETURNED,
    /** It threw, and nothing recorded stands against that. */
    THREW,
    /** It waits for what the history does not have yet, as it did when it was recorded. */
    WAITS,
    /** It makes a call that the history does not have yet. */
    GOES_ON,
    /** It begins anew. */
    BEGINS_ANEW,
    /** It was given up or cancelled, and its compensations are all recorded. */
    COMPENSATED,
    /** It asks for something else than the history has. */
    DIVERGED,
    /** It cannot read its input or a recorded result. */
    UNDECODABLE
  }

  /**
   * What a replay shows.
   *
   * @param end how the code met the history
   * @param detail the call that the code makes beyond the history, or what does not fit; may be
   *     empty
   * @param result what the code returned; null for anything else
   */
  public record Result(End end, String detail, @Nullable Object result) {}

  /**
   * Runs the code of a workflow against a history.
   *
   * @param carillon whose codecs read the payloads
   * @param history the history
   * @param type the type of the workflow
   * @param handler the code
   * @param <I> the input
   * @param <O> the result
   * @return what it showed
   * @throws InvalidArgumentException if the history is of another type
   * @throws IllegalStateException if the code does not come to an end
   */
  public static <I, O> Result run(
      Carillon carillon,
      RecordedWorkflow history,
      JobType<I, O> type,
      WorkflowHandler<? super I, ? extends O> handler) {
    return run(
        carillon, history, Registration.ofWorkflow(type, handler, HandlerOptions.defaults()));
  }

  /**
   * Runs the code of a workflow without a result against a history.
   *
   * @param carillon whose codecs read the payloads
   * @param history the history
   * @param type the type of the workflow
   * @param handler the code
   * @param <I> the input
   * @return what it showed
   * @throws InvalidArgumentException if the history is of another type
   * @throws IllegalStateException if the code does not come to an end
   */
  public static <I> Result run(
      Carillon carillon,
      RecordedWorkflow history,
      TaskType<I> type,
      WorkflowTask<? super I> handler) {
    return run(
        carillon, history, Registration.ofWorkflow(type, handler, HandlerOptions.defaults()));
  }

  private static Result run(
      Carillon carillon, RecordedWorkflow history, Registration registration) {
    Limits.checkPresent("history", history);
    if (!history.type().equals(registration.name())) {
      throw InvalidArgumentException.of(
          "type", registration.name(), "that of the history, " + history.type());
    }
    return new ReplayedRun(carillon.runner(), registration, history).run();
  }

  /**
   * Whether code that met a history so can have written it: it fits, and comes to an end where a
   * job that has succeeded did.
   *
   * @param history the history
   * @param met how the code met it
   * @return false where the code must not run on jobs with such a history
   */
  public static boolean fits(RecordedWorkflow history, Result met) {
    return switch (met.end()) {
      case DIVERGED, UNDECODABLE -> false;
      case RETURNED, BEGINS_ANEW, COMPENSATED -> true;
      case THREW, WAITS, GOES_ON -> history.state() != JobState.SUCCEEDED;
    };
  }
}
