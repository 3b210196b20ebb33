package dev.carillon;

import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandler;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.Upcaster;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.api.workflow.WorkflowHandler;
import dev.carillon.api.workflow.WorkflowTask;
import dev.carillon.engine.dispatch.HandlerSettings;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * A handler or a workflow with the types it was registered for.
 *
 * @param threads makes the threads of its attempts, named for the type; of no use where the options
 *     have an executor
 * @param classLoader the context class loader of whoever registered it, for its attempts
 */
record Registration(
    String name,
    int version,
    Type input,
    Type output,
    Code code,
    HandlerOptions options,
    ThreadFactory threads,
    @Nullable ClassLoader classLoader) {

  private static final String WORKFLOW_THREADS = "carillon-workflow ";

  /** What runs the jobs of a type, with its types erased. */
  sealed interface Code permits Call, Flow {}

  /** A handler, of a job's or a task's type. */
  @FunctionalInterface
  non-sealed interface Call extends Code {
    @Nullable Object run(@Nullable Object input, JobContext job) throws Exception;
  }

  /** A workflow, likewise. */
  @FunctionalInterface
  non-sealed interface Flow extends Code {
    @Nullable Object run(@Nullable Object input, Workflow wf) throws Exception;
  }

  boolean isWorkflow() {
    return code instanceof Flow;
  }

  /** The code of a type that is no workflow. */
  Call handler() {
    return (Call) code;
  }

  /** The code of a workflow. */
  Flow flow() {
    return (Flow) code;
  }

  @SuppressWarnings({
    "unchecked",
    "NullAway"
  }) // the input has its type, and is null if that is Void
  static <I, O> Registration of(
      JobType<I, O> type, JobHandler<? super I, ? extends O> handler, HandlerOptions options) {
    return new Registration(
        type.name(),
        type.version(),
        type.input().type(),
        type.output().type(),
        (Call)
            (input, job) ->
                ((JobHandler<@Nullable Object, @Nullable Object>) handler).run(input, job),
        options,
        threads("carillon-job ", type.name(), options),
        Thread.currentThread().getContextClassLoader());
  }

  @SuppressWarnings({
    "unchecked",
    "NullAway"
  }) // the input has its type, and is null if that is Void
  static <I> Registration of(
      TaskType<I> type, TaskHandler<? super I> handler, HandlerOptions options) {
    return new Registration(
        type.name(),
        type.version(),
        type.input().type(),
        Void.class,
        (Call)
            (input, job) -> {
              ((TaskHandler<@Nullable Object>) handler).run(input, job);
              return null;
            },
        options,
        threads("carillon-job ", type.name(), options),
        Thread.currentThread().getContextClassLoader());
  }

  @SuppressWarnings({
    "unchecked",
    "NullAway"
  }) // the input has its type, and is null if that is Void
  static <I, O> Registration ofWorkflow(
      JobType<I, O> type, WorkflowHandler<? super I, ? extends O> handler, HandlerOptions options) {
    requireOwnThreads(options);
    return new Registration(
        type.name(),
        type.version(),
        type.input().type(),
        type.output().type(),
        (Flow)
            (input, wf) ->
                ((WorkflowHandler<@Nullable Object, @Nullable Object>) handler).run(input, wf),
        options,
        threads(WORKFLOW_THREADS, type.name(), options),
        Thread.currentThread().getContextClassLoader());
  }

  @SuppressWarnings({
    "unchecked",
    "NullAway"
  }) // the input has its type, and is null if that is Void
  static <I> Registration ofWorkflow(
      TaskType<I> type, WorkflowTask<? super I> handler, HandlerOptions options) {
    requireOwnThreads(options);
    return new Registration(
        type.name(),
        type.version(),
        type.input().type(),
        Void.class,
        (Flow)
            (input, wf) -> {
              ((WorkflowTask<@Nullable Object>) handler).run(input, wf);
              return null;
            },
        options,
        threads(WORKFLOW_THREADS, type.name(), options),
        Thread.currentThread().getContextClassLoader());
  }

  /** A thread that waits for days must cost nothing: it is a virtual one. */
  private static void requireOwnThreads(HandlerOptions options) {
    if (options.usesPlatformThreads()) {
      throw InvalidArgumentException.of(
          "platformThreads", true, "not for a workflow, whose thread stays parked while it waits");
    }
    if (options.executor() != null) {
      throw InvalidArgumentException.of(
          "executor",
          options.executor(),
          "none for a workflow, whose thread stays parked while it waits");
    }
  }

  private static ThreadFactory threads(String kind, String type, HandlerOptions options) {
    Thread.Builder threads =
        options.usesPlatformThreads() ? Thread.ofPlatform().daemon() : Thread.ofVirtual();
    return threads.name(kind + type).inheritInheritableThreadLocals(false).factory();
  }

  /** Where the attempts run, if not on threads of their own. */
  @Nullable Executor executor() {
    return options.executor();
  }

  /** What the node is told of the handler. */
  HandlerSettings settings() {
    Duration timeout = options.timeout();
    return new HandlerSettings(
        options.limit(),
        timeout == null ? 0 : Micros.ceil(timeout),
        options.failurePolicy(),
        isWorkflow());
  }

  /** The input of a job, brought to this version. */
  @Nullable Object decode(JobSpec spec, Payloads payloads) {
    byte[] stored = spec.payload();
    int written = spec.typeVersion();
    if (written == version) {
      return payloads.decode(stored, input);
    }
    Upcaster upcaster = options.upcaster();
    if (written > version || upcaster == null) {
      throw new CodecException(
          "payload version of %s: %s (expected: %s%s)"
              .formatted(
                  name,
                  written,
                  version,
                  written > version
                      ? " or lower; a newer version of the code wrote it"
                      : ", or an upcaster for older ones"));
    }
    byte[] current = payloads.upcast(stored, bytes -> upcaster.upcast(written, bytes));
    return payloads.decode(current, input);
  }
}
