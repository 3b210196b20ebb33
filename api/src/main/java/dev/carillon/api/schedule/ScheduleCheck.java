package dev.carillon.api.schedule;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidScheduleException;
import dev.carillon.api.internal.Check;
import dev.carillon.api.internal.Micros;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** The checks behind {@link Schedule}: those of {@link Check}, refusing as schedules do. */
final class ScheduleCheck {
  /** What is expected where a zone is. */
  static final String ZONES = "a time zone that the JVM knows, such as Europe/Berlin";

  private static final Duration MICROSECOND = Duration.ofNanos(1_000);

  private ScheduleCheck() {}

  static InvalidScheduleException invalid(String what, @Nullable Object value, String expected) {
    return new InvalidScheduleException(Check.problem(what, value, expected));
  }

  /** For the characters {@code from} to {@code to} of a text. */
  static InvalidScheduleException invalid(
      String what, String text, int from, int to, String expected) {
    return new InvalidScheduleException(
        "%s: %s at column %d of %s (expected: %s)"
            .formatted(
                what, Check.shown(text.substring(from, to)), from + 1, Check.shown(text), expected),
        from + 1);
  }

  static <T> T present(String what, @Nullable T value) {
    return Check.present(what, value, ScheduleCheck::invalid);
  }

  static <T extends Comparable<T>> T range(String what, @Nullable T value, T min, T max) {
    return Check.range(what, value, min, max, ScheduleCheck::invalid);
  }

  /** A length of time, zero allowed, in whole microseconds. */
  static Duration length(String what, @Nullable Duration value) {
    return Micros.roundedUp(range(what, value, Duration.ZERO, Limits.PERIOD_MAX));
  }

  /** A length of time above zero, in whole microseconds. */
  static Duration period(String what, @Nullable Duration value) {
    Duration length = length(what, value);
    if (length.isZero()) {
      throw invalid(what, value, MICROSECOND + " to " + Limits.PERIOD_MAX);
    }
    return length;
  }

  static Instant time(String what, @Nullable Instant value) {
    return range(what, value, Limits.EARLIEST_DUE, Limits.LATEST_DUE);
  }

  static ZoneId zone(@Nullable String id) {
    try {
      return ZoneId.of(present("zone", id));
    } catch (DateTimeException e) {
      throw invalid("zone", id, ZONES);
    }
  }
}
