package dev.carillon.api;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How often attempts may start: so many in a period on average, evenly spread, and at most {@link
 * #burst} at once after a quiet time. In any stretch of time no more start than the rate gives for
 * that stretch, and one burst. What was used up is remembered across a restart.
 *
 * @param permits how many in a period, from 1 to {@link Limits#RATE_MAX_PERMITS}
 * @param period from {@link Limits#RATE_MIN_PERIOD} to {@link Limits#RATE_MAX_PERIOD}
 * @param burst how many at once, from 1 to {@link Limits#RATE_MAX_PERMITS}, and at most what the
 *     rate gives in {@link Limits#RATE_MAX_BURST}
 */
public record Rate(int permits, Duration period, int burst) {

  private static final long BURST_MILLIS = 100;

  /**
   * Checks the ranges.
   *
   * @throws InvalidJobException if a value is out of range
   */
  public Rate {
    Check.range("permits", permits, 1, Limits.RATE_MAX_PERMITS);
    Check.range("period", period, Limits.RATE_MIN_PERIOD, Limits.RATE_MAX_PERIOD);
    Check.range("burst", burst, 1, Limits.RATE_MAX_PERMITS);
    if (period.toNanos() / permits == 0) {
      throw Check.invalid("permits", permits, "at most one a nanosecond");
    }
    if (period.dividedBy(permits).compareTo(Limits.RATE_MAX_BURST.dividedBy(burst)) > 0) {
      throw Check.invalid(
          "burst", burst, "at most what the rate gives in " + Limits.RATE_MAX_BURST);
    }
  }

  /**
   * So many in a period. The burst is what a tenth of a second gives, and at least 1.
   *
   * @param permits how many, from 1
   * @param period in which time
   * @return the rate
   * @throws InvalidJobException if a value is out of range
   */
  public static Rate of(int permits, Duration period) {
    return new Rate(permits, period, standardBurst(permits, period));
  }

  /**
   * So many in a second.
   *
   * @param permits how many, from 1
   * @return the rate
   * @throws InvalidJobException if the number is out of range
   */
  public static Rate perSecond(int permits) {
    return of(permits, Duration.ofSeconds(1));
  }

  /**
   * So many in a minute.
   *
   * @param permits how many, from 1
   * @return the rate
   * @throws InvalidJobException if the number is out of range
   */
  public static Rate perMinute(int permits) {
    return of(permits, Duration.ofMinutes(1));
  }

  private static int standardBurst(int permits, @Nullable Duration period) {
    long millis = period != null ? period.toMillis() : 0;
    long burst = millis > 0 ? permits * BURST_MILLIS / millis : 1;
    return Math.clamp(burst, 1, Limits.RATE_MAX_PERMITS);
  }

  /**
   * With another burst.
   *
   * @param burst how many may start at once after a quiet time, from 1
   * @return a copy
   * @throws InvalidJobException if it is out of range
   */
  public Rate burst(int burst) {
    return new Rate(permits, period, burst);
  }
}
