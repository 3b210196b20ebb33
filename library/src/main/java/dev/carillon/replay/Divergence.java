package dev.carillon.replay;

import dev.carillon.api.JobError;
import dev.carillon.engine.environment.AttemptOutcome;
import org.jspecify.annotations.Nullable;

/** The code asks for something else than its history has: what people are told of it. */
final class Divergence {
  private static final String TYPE = "diverged";

  private Divergence() {}

  /**
   * The outcome of a call that does not fit.
   *
   * @param number of the call
   * @param actual what the code asks for
   * @param before the call before it
   */
  static AttemptOutcome.Diverged at(History history, int number, String actual, String before) {
    RecordedCall recorded = history.call(number);
    String expected = recorded != null ? recorded.describe() : "a call without an entry of its own";
    StringBuilder message =
        new StringBuilder(
            "call %d: %s (expected: %s, as recorded".formatted(number, actual, expected));
    if (!before.isEmpty()) {
      message.append("; before it: call ").append(number - 1).append(", ").append(before);
    }
    String after = next(history, number);
    if (after != null) {
      message.append("; after it: ").append(after);
    }
    return outcome(message.append(')').toString());
  }

  private static @Nullable String next(History history, int number) {
    for (int next = number + 1; next <= history.lastCall(); next++) {
      RecordedCall recorded = history.call(next);
      if (recorded != null) {
        return "call " + next + ", " + recorded.describe();
      }
    }
    return null;
  }

  /** The outcome of something else that does not fit. */
  static AttemptOutcome.Diverged outcome(String message) {
    String stack = JobError.of(new IllegalStateException(message)).stack();
    return new AttemptOutcome.Diverged(new JobError(TYPE, message, stack));
  }
}
