package dev.carillon.replay;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.format.Micros;
import java.time.Duration;
import java.time.Instant;

/** Checks what the code of a workflow hands in. */
final class CallArguments {
  private CallArguments() {}

  /** A wait in microseconds, rounded up. */
  static long micros(String what, Duration duration) {
    Limits.checkPresent(what, duration);
    if (duration.isNegative() || duration.compareTo(Limits.PERIOD_MAX) > 0) {
      throw InvalidArgumentException.of(what, duration, Duration.ZERO + " to " + Limits.PERIOD_MAX);
    }
    return Micros.ceil(duration);
  }

  /** A time in microseconds since 1970, rounded up. */
  static long micros(Instant time) {
    Limits.checkPresent("time", time);
    if (time.isBefore(Limits.EARLIEST_DUE) || time.isAfter(Limits.LATEST_DUE)) {
      throw InvalidArgumentException.of(
          "time", time, Limits.EARLIEST_DUE + " to " + Limits.LATEST_DUE);
    }
    return Micros.ceil(time);
  }

  static int version(int newest) {
    if (newest < 1 || newest > Limits.TYPE_VERSION_MAX) {
      throw InvalidArgumentException.of("newest", newest, "1 to " + Limits.TYPE_VERSION_MAX);
    }
    return newest;
  }
}
