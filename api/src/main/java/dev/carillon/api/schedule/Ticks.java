package dev.carillon.api.schedule;

import dev.carillon.api.internal.Micros;
import org.jspecify.annotations.Nullable;

/**
 * The times of a schedule without an end, in microseconds since 1970; {@link Micros#NONE} if there
 * are none. Pure and immutable.
 */
sealed interface Ticks {

  /** The last microsecond before due times begin. */
  long BEFORE_1970 = -1;

  /** The first time of a schedule accepted at a time. */
  long first(long accepted);

  /** The time after another. */
  long next(long previous);

  /** The first time after {@code after} of those that follow {@code previous}. */
  long nextAfter(long previous, long after);

  /**
   * By cron.
   *
   * @param start no time is before it
   */
  record OfCron(ZonedCron cron, long start) implements Ticks {

    @Override
    public long first(long accepted) {
      return next(accepted);
    }

    @Override
    public long next(long previous) {
      long from = Math.max(previous + 1, start);
      long second = cron.atOrAfter(Math.ceilDiv(from, Micros.PER_SECOND));
      return second == ZonedCron.NONE ? Micros.NONE : second * Micros.PER_SECOND;
    }

    @Override
    public long nextAfter(long previous, long after) {
      return next(Math.max(previous, after));
    }
  }

  /**
   * At a fixed rate.
   *
   * @param start the first time, which all others are a number of periods after; null for one
   *     period after the schedule was accepted
   */
  record OfRate(long period, @Nullable Long start) implements Ticks {

    @Override
    public long first(long accepted) {
      return start == null ? next(accepted) : next(accepted - 1);
    }

    @Override
    public long next(long previous) {
      if (start == null) {
        return firstAfter(previous + period, BEFORE_1970, period);
      }
      return firstAfter(start, previous, period);
    }

    @Override
    public long nextAfter(long previous, long after) {
      return firstAfter(next(previous), after, period);
    }
  }

  /**
   * With a fixed delay.
   *
   * @param start the first time, unless the schedule was accepted after it; null for one delay
   *     after the schedule was accepted
   */
  record OfDelay(long delay, @Nullable Long start) implements Ticks {

    @Override
    public long first(long accepted) {
      return start != null && start >= accepted ? start : next(accepted);
    }

    @Override
    public long next(long previous) {
      long next = firstAfter(previous + delay, BEFORE_1970, delay);
      return start == null ? next : Math.max(next, start);
    }

    @Override
    public long nextAfter(long previous, long after) {
      return firstAfter(next(previous), after, delay);
    }
  }

  /** The first of a time and those a number of periods after it that is after {@code after}. */
  private static long firstAfter(long time, long after, long period) {
    return time > after ? time : time + (Math.floorDiv(after - time, period) + 1) * period;
  }
}
