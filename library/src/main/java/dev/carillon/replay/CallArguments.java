package dev.carillon.replay;

import dev.carillon.api.InvalidArgumentException;
import dev.carillon.api.Limits;
import dev.carillon.engine.format.Micros;
import java.nio.charset.StandardCharsets;
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

  static void progress(long done, long total) {
    if (done < 0) {
      throw InvalidArgumentException.of("done", done, "at least 0");
    }
    if (total < done) {
      throw InvalidArgumentException.of("total", total, "at least what is done, " + done);
    }
  }

  static String message(String message) {
    int bytes = Limits.checkPresent("message", message).getBytes(StandardCharsets.UTF_8).length;
    if (bytes > Limits.REASON_MAX_BYTES) {
      throw InvalidArgumentException.of(
          "message", message, "at most " + Limits.REASON_MAX_BYTES + " UTF-8 bytes, is " + bytes);
    }
    return message;
  }

  static int version(int newest) {
    if (newest < 1 || newest > Limits.TYPE_VERSION_MAX) {
      throw InvalidArgumentException.of("newest", newest, "1 to " + Limits.TYPE_VERSION_MAX);
    }
    return newest;
  }
}
