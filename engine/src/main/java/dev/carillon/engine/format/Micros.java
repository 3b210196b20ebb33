package dev.carillon.engine.format;

import java.time.Duration;
import java.time.Instant;

/** Times as the engine holds them: microseconds since 1970, rounded up so that nothing is early. */
public final class Micros {
  public static final long PER_SECOND = 1_000_000;

  private Micros() {}

  /** The first microsecond at or after {@code instant}. */
  public static long ceil(Instant instant) {
    return Math.addExact(
        Math.multiplyExact(instant.getEpochSecond(), PER_SECOND), (instant.getNano() + 999) / 1000);
  }

  /** The last microsecond at or before {@code instant}. */
  public static long floor(Instant instant) {
    return Math.addExact(
        Math.multiplyExact(instant.getEpochSecond(), PER_SECOND), instant.getNano() / 1000);
  }

  /** The first whole number of microseconds that is not shorter. */
  public static long ceil(Duration duration) {
    return Math.addExact(
        Math.multiplyExact(duration.getSeconds(), PER_SECOND), (duration.getNano() + 999) / 1000);
  }

  /** The instant of {@code micros}. */
  public static Instant toInstant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, PER_SECOND), Math.floorMod(micros, PER_SECOND) * 1000);
  }
}
