package dev.carillon;

import dev.carillon.api.CodecException;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandler;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.Upcaster;
import dev.carillon.engine.dispatch.HandlerSettings;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * A handler with the types it was registered for.
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
    Call call,
    HandlerOptions options,
    ThreadFactory threads,
    @Nullable ClassLoader classLoader) {

  /** A handler of either kind, with its types erased. */
  @FunctionalInterface
  interface Call {
    @Nullable Object run(@Nullable Object input, JobContext job) throws Exception;
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
        (input, job) -> ((JobHandler<@Nullable Object, @Nullable Object>) handler).run(input, job),
        options,
        threads(type.name(), options),
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
        (input, job) -> {
          ((TaskHandler<@Nullable Object>) handler).run(input, job);
          return null;
        },
        options,
        threads(type.name(), options),
        Thread.currentThread().getContextClassLoader());
  }

  private static ThreadFactory threads(String type, HandlerOptions options) {
    Thread.Builder threads =
        options.usesPlatformThreads() ? Thread.ofPlatform().daemon() : Thread.ofVirtual();
    return threads.name("carillon-job " + type).inheritInheritableThreadLocals(false).factory();
  }

  /** Where the attempts run, if not on threads of their own. */
  @Nullable Executor executor() {
    return options.executor();
  }

  /** What the node is told of the handler. */
  HandlerSettings settings() {
    Duration timeout = options.timeout();
    return new HandlerSettings(
        options.limit(), timeout == null ? 0 : Micros.ceil(timeout), options.failurePolicy());
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
