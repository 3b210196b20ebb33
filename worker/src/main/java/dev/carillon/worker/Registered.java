package dev.carillon.worker;

import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandler;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.Upcaster;
import dev.carillon.api.error.CodecException;
import dev.carillon.protocol.Attempt;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** A handler with the types it was registered for. */
record Registered(
    String name, int version, Type input, Type output, Call call, @Nullable Upcaster upcaster) {

  /** A handler with its types erased. */
  @FunctionalInterface
  interface Call {
    @Nullable Object run(@Nullable Object input, JobContext job) throws Exception;
  }

  @SuppressWarnings({
    "unchecked",
    "NullAway"
  }) // the input has its type, and is null if that is Void
  static <I, O> Registered of(JobType<I, O> type, JobHandler<? super I, ? extends O> handler) {
    return new Registered(
        type.name(),
        type.version(),
        type.input().type(),
        type.output().type(),
        (input, job) -> ((JobHandler<@Nullable Object, @Nullable Object>) handler).run(input, job),
        null);
  }

  @SuppressWarnings({
    "unchecked",
    "NullAway"
  }) // the input has its type, and is null if that is Void
  static <I> Registered of(TaskType<I> type, TaskHandler<? super I> handler) {
    return new Registered(
        type.name(),
        type.version(),
        type.input().type(),
        Void.class,
        (input, job) -> {
          ((TaskHandler<@Nullable Object>) handler).run(input, job);
          return null;
        },
        null);
  }

  /** What runs attempts of a type that the server should not have given. */
  static Registered missing(String type) {
    return new Registered(type, 0, Void.class, Void.class, (input, job) -> null, null);
  }

  Registered upcaster(Upcaster by) {
    return new Registered(name, version, input, output, call, by);
  }

  /** The input of an attempt, brought to this version. */
  @Nullable Object decode(Attempt attempt, WorkerPayloads payloads) {
    if (version == 0) {
      throw new CodecException("type: " + name + " (expected: one that this worker takes)");
    }
    int written = attempt.getTypeVersion();
    if (written == version) {
      return payloads.decode(attempt.getInput(), input);
    }
    Upcaster by = upcaster;
    if (written > version || by == null) {
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
    byte[] stored = attempt.getInput().getData().toByteArray();
    return payloads.decode(attempt.getInput().getCodec(), by.upcast(written, stored), input);
  }
}
