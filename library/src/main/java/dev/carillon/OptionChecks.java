package dev.carillon;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import java.time.Duration;

/** The checks behind the options of the builder. */
final class OptionChecks {

  /** The longest that anything may be set to last: a hundred years. */
  static final Duration LONGEST = Duration.ofDays(36_500);

  private OptionChecks() {}

  static String text(String what, String value) {
    if (Limits.checkPresent(what, value).isBlank()) {
      throw bad(what, value, "not blank");
    }
    return value;
  }

  static int positive(String what, int value) {
    if (value < 1) {
      throw bad(what, value, "at least 1");
    }
    return value;
  }

  static Duration range(String what, Duration value, Duration min, Duration max) {
    if (Limits.checkPresent(what, value).compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw bad(what, value, min + " to " + max);
    }
    return value;
  }

  static InvalidArgumentException bad(String what, Object value, String expected) {
    return InvalidArgumentException.of(what, value, expected);
  }
}
