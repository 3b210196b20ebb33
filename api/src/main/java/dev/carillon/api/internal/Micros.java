package dev.carillon.api.internal;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Times as schedules compute with them: microseconds since 1970. Instants that are not within
 * 10,000 years of 1970 count as the end of that span, which is beyond every due time, so that sums
 * with a period do not overflow.
 */
public final class Micros {
  public static final long PER_SECOND = 1_000_000;

  /** Above every time: there is none. */
  public static final long NONE = Long.MAX_VALUE;

  private static final long NANOS = 1_000;
  private static final long FAR_SECONDS = 10_000L * 366 * 86_400;

  private Micros() {}

  /** The last microsecond that is not after {@code instant}. */
  public static long down(Instant instant) {
    return micros(instant, 0);
  }

  /** The first microsecond that is not before {@code instant}. */
  public static long up(Instant instant) {
    return micros(instant, NANOS - 1);
  }

  private static long micros(Instant instant, long moreNanos) {
    long seconds = Math.clamp(instant.getEpochSecond(), -FAR_SECONDS, FAR_SECONDS);
    return seconds * PER_SECOND + (instant.getNano() + moreNanos) / NANOS;
  }

  public static long of(Duration wholeMicros) {
    return wholeMicros.getSeconds() * PER_SECOND + wholeMicros.getNano() / NANOS;
  }

  public static Instant toInstant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, PER_SECOND), Math.floorMod(micros, PER_SECOND) * NANOS);
  }

  /** The shortest whole number of microseconds that is not shorter. */
  public static Duration roundedUp(Duration duration) {
    return duration.plusNanos(NANOS - 1).truncatedTo(ChronoUnit.MICROS);
  }
}
