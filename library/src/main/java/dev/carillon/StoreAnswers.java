package dev.carillon;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.store.Outcome;

/** What users are told of what the store answered. */
final class StoreAnswers {
  private StoreAnswers() {}

  static <T> T get(Outcome<T> outcome) {
    if (outcome instanceof Outcome.Ok<T>(T value)) {
      return value;
    }
    throw failure(outcome);
  }

  static <T> void pass(Outcome<T> outcome, Pending<T> asked) {
    if (outcome instanceof Outcome.Ok<T>(T value)) {
      asked.answer(value);
    } else {
      asked.fail(failure(outcome));
    }
  }

  /** What the caller of a write that may be repeated is told if it was not answered with ok. */
  static CarillonException notWritten(String what, Outcome<?> outcome) {
    return switch (outcome) {
      case Outcome.Unknown<?>(String detail) ->
          OutcomeUnknownException.ofRepeatable(what + ": " + detail);
      case Outcome.Unavailable<?>(String detail) ->
          new StoreUnavailableException(what + ": nothing was written: " + detail);
      case Outcome.Full<?>(String detail) ->
          new StoreUnavailableException(
              what + ": nothing was written, the store is full: " + detail);
      default -> failure(outcome);
    };
  }

  private static CarillonException failure(Outcome<?> outcome) {
    return outcome instanceof Outcome.Damaged<?>(String where)
        ? new StoreCorruptedException(where, "it cannot be read")
        : new StoreUnavailableException("store: not read: " + outcome);
  }
}
