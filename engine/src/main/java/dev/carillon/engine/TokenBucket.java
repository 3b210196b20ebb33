package dev.carillon.engine;

import dev.carillon.api.Rate;
import dev.carillon.store.Records.Stamp;
import org.jspecify.annotations.Nullable;

/**
 * How far a rate is used up, as one time: when it would all be there again. An attempt that starts
 * puts that time off by one interval; none may start while it is more than a burst ahead.
 *
 * <p>The time is durable before it is reached: a record holds one that it has not passed. After a
 * crash it goes on from there, so no start is forgotten and at most a second's worth is lost.
 */
final class TokenBucket {
  /** What its record is called. */
  final String record;

  /** Runs when an attempt may start again. */
  final Runnable free;

  private Rate rate;
  private long intervalNanos;
  private long toleranceNanos;

  /** When it is full again, by the clock that only moves forward. */
  private long fullNanos;

  /** The same before the last start. */
  private long beforeNanos;

  /** As far as that may go before the record is written again. */
  private long durableNanos;

  boolean read;

  /** Whether it was ever read. */
  private boolean known;

  boolean busy;
  Stamp version = Stamp.ABSENT;
  Timers.@Nullable Timer wake;

  TokenBucket(String record, Rate rate, Runnable free) {
    this.record = record;
    this.free = free;
    this.rate = rate;
    measure();
  }

  private void measure() {
    intervalNanos = rate.period().toNanos() / rate.permits();
    toleranceNanos = intervalNanos * (rate.burst() - 1);
  }

  /**
   * Has another rate from now on; false where it is the same. What an older, slower one had used up
   * counts as all of the new one at most.
   */
  boolean rate(Rate newRate, long now) {
    if (newRate.equals(rate)) {
      return false;
    }
    rate = newRate;
    measure();
    fullNanos = Math.min(fullNanos, now + capacityNanos());
    return true;
  }

  long intervalNanos() {
    return intervalNanos;
  }

  /** How much of it may be used up at most. */
  long capacityNanos() {
    return toleranceNanos + intervalNanos;
  }

  /** How much of it is used up. */
  long usedNanos(long now) {
    return Math.max(0, fullNanos - now);
  }

  /** How long until an attempt may start; not positive where one may. */
  long waitNanos(long now) {
    return fullNanos - toleranceNanos - now;
  }

  /** How much may be used up from now on before the record is written again. */
  long durableNanos(long now) {
    return durableNanos - Math.max(fullNanos, now);
  }

  void take(long now) {
    beforeNanos = fullNanos;
    fullNanos = Math.max(fullNanos, now) + intervalNanos;
  }

  /** One start that was used up: when it would all have been there before it, and after. */
  record Take(long beforeNanos, long afterNanos) {}

  Take lastTake() {
    return new Take(beforeNanos, fullNanos);
  }

  /** What was taken was not used; too late where more was taken since. */
  void giveBack(Take take) {
    if (fullNanos == take.afterNanos()) {
      fullNanos = take.beforeNanos();
      free.run();
    }
  }

  /** So much is used up, as its record says; what this node took itself it knows better. */
  void remember(long now, long used) {
    fullNanos = known ? Math.max(fullNanos, now + used) : now + used;
    known = true;
    durableNanos = fullNanos;
    read = true;
  }

  void durable(long untilNanos) {
    durableNanos = untilNanos;
  }
}
