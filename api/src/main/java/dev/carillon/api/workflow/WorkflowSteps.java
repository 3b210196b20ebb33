package dev.carillon.api.workflow;

import dev.carillon.api.Limits;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.error.WorkflowCancelledException;
import java.util.concurrent.Callable;

/**
 * The steps of a workflow, a part of {@link Workflow}. A step is a piece of work with a recorded
 * result: it runs, its result is durable, and only then does the code go on. When the code runs
 * again, the step does not: the call returns what is recorded.
 *
 * <p>A step runs on the thread of the workflow; one that is started beside the code, on a thread of
 * its own. Live and when the code runs again the caller gets what was decoded from the record,
 * never the object that the body returned or threw. A result that cannot be encoded, that is larger
 * than {@link Limits#PAYLOAD_MAX_BYTES} or that cannot be decoded again fails the step for good.
 *
 * <p>A body takes nothing, or the {@link StepContext} of its try.
 */
public sealed interface WorkflowSteps permits Workflow {

  /**
   * Runs a step without a result.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default void step(String name, StepAction body) {
    Limits.checkPresent("body", body);
    var unused =
        step(
            name,
            TypeToken.of(Void.class),
            StepOptions.defaults(),
            step -> {
              body.run();
              return null;
            });
  }

  /**
   * Runs a step without a result.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default void step(String name, StepAction.InContext body) {
    Limits.checkPresent("body", body);
    var unused =
        step(
            name,
            TypeToken.of(Void.class),
            StepOptions.defaults(),
            step -> {
              body.run(step);
              return null;
            });
  }

  /**
   * Runs a step without a result, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default void step(String name, StepOptions options, StepAction body) {
    Limits.checkPresent("body", body);
    var unused =
        step(
            name,
            TypeToken.of(Void.class),
            options,
            step -> {
              body.run();
              return null;
            });
  }

  /**
   * Runs a step without a result, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default void step(String name, StepOptions options, StepAction.InContext body) {
    Limits.checkPresent("body", body);
    var unused =
        step(
            name,
            TypeToken.of(Void.class),
            options,
            step -> {
              body.run(step);
              return null;
            });
  }

  /**
   * Runs a step and records its result.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> T step(String name, Class<T> type, Callable<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    Limits.checkPresent("body", body);
    return step(name, token, StepOptions.defaults(), step -> body.call());
  }

  /**
   * Runs a step and records its result.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> T step(String name, Class<T> type, StepBody<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    return step(name, token, StepOptions.defaults(), body);
  }

  /**
   * Runs a step and records its result, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> T step(String name, Class<T> type, StepOptions options, Callable<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    Limits.checkPresent("body", body);
    return step(name, token, options, step -> body.call());
  }

  /**
   * Runs a step and records its result, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> T step(String name, Class<T> type, StepOptions options, StepBody<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    return step(name, token, options, body);
  }

  /**
   * Runs a step and records its result.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> T step(String name, TypeToken<T> type, Callable<? extends T> body) {
    Limits.checkPresent("body", body);
    return step(name, type, StepOptions.defaults(), step -> body.call());
  }

  /**
   * Runs a step and records its result.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> T step(String name, TypeToken<T> type, StepBody<? extends T> body) {
    return step(name, type, StepOptions.defaults(), body);
  }

  /**
   * Runs a step and records its result, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> T step(
      String name, TypeToken<T> type, StepOptions options, Callable<? extends T> body) {
    Limits.checkPresent("body", body);
    return step(name, type, options, step -> body.call());
  }

  /**
   * Runs a step and records its result, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the recorded result; null where the body returned null
   * @throws StepFailedException if the step has failed for good, now or when it was recorded
   * @throws WorkflowCancelledException if the workflow was cancelled and has no result of the step
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  <T> T step(String name, TypeToken<T> type, StepOptions options, StepBody<? extends T> body);

  /**
   * Starts a step beside the code that follows.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default Promise<Void> startStep(String name, StepAction body) {
    Limits.checkPresent("body", body);
    return startStep(
        name,
        TypeToken.of(Void.class),
        StepOptions.defaults(),
        step -> {
          body.run();
          return null;
        });
  }

  /**
   * Starts a step beside the code that follows.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default Promise<Void> startStep(String name, StepAction.InContext body) {
    Limits.checkPresent("body", body);
    return startStep(
        name,
        TypeToken.of(Void.class),
        StepOptions.defaults(),
        step -> {
          body.run(step);
          return null;
        });
  }

  /**
   * Starts a step beside the code that follows, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default Promise<Void> startStep(String name, StepOptions options, StepAction body) {
    Limits.checkPresent("body", body);
    return startStep(
        name,
        TypeToken.of(Void.class),
        options,
        step -> {
          body.run();
          return null;
        });
  }

  /**
   * Starts a step beside the code that follows, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default Promise<Void> startStep(String name, StepOptions options, StepAction.InContext body) {
    Limits.checkPresent("body", body);
    return startStep(
        name,
        TypeToken.of(Void.class),
        options,
        step -> {
          body.run(step);
          return null;
        });
  }

  /**
   * Starts a step beside the code that follows.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> Promise<T> startStep(String name, Class<T> type, Callable<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    Limits.checkPresent("body", body);
    return startStep(name, token, StepOptions.defaults(), step -> body.call());
  }

  /**
   * Starts a step beside the code that follows.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> Promise<T> startStep(String name, Class<T> type, StepBody<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    return startStep(name, token, StepOptions.defaults(), body);
  }

  /**
   * Starts a step beside the code that follows, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> Promise<T> startStep(
      String name, Class<T> type, StepOptions options, Callable<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    Limits.checkPresent("body", body);
    return startStep(name, token, options, step -> body.call());
  }

  /**
   * Starts a step beside the code that follows, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the class of the result
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> Promise<T> startStep(
      String name, Class<T> type, StepOptions options, StepBody<? extends T> body) {
    TypeToken<T> token = TypeToken.of(type);
    return startStep(name, token, options, body);
  }

  /**
   * Starts a step beside the code that follows.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> Promise<T> startStep(String name, TypeToken<T> type, Callable<? extends T> body) {
    Limits.checkPresent("body", body);
    return startStep(name, type, StepOptions.defaults(), step -> body.call());
  }

  /**
   * Starts a step beside the code that follows.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> Promise<T> startStep(String name, TypeToken<T> type, StepBody<? extends T> body) {
    return startStep(name, type, StepOptions.defaults(), body);
  }

  /**
   * Starts a step beside the code that follows, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  default <T> Promise<T> startStep(
      String name, TypeToken<T> type, StepOptions options, Callable<? extends T> body) {
    Limits.checkPresent("body", body);
    return startStep(name, type, options, step -> body.call());
  }

  /**
   * Starts a step beside the code that follows, with options.
   *
   * @param name the name of the step, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param type the type of the result, with type arguments
   * @param options how the step is tried
   * @param body what the step does; see {@link StepBody} for what it must bear
   * @param <T> the result
   * @return the result to be
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  <T> Promise<T> startStep(
      String name, TypeToken<T> type, StepOptions options, StepBody<? extends T> body);
}
