package dev.carillon.engine.limit;

import dev.carillon.api.Rate;
import dev.carillon.engine.environment.Timers;
import dev.carillon.store.Records.Stamp;
import org.jspecify.annotations.Nullable;

/**
 * How far a rate is used up, as one time: when it would all be there again. An attempt that starts
 * puts that time off by one interval; none may start while it is more than a burst ahead.
 *
 * <p>The time is durable before it is reached: a record holds one that it has not passed. After a
 * crash it goes on from there, so no start is forgotten and at most a second's worth is lost.
 *
 * <p>That of a concurrency key follows its jobs, each of which names its own rate: the bucket has
 * the rate of the job that started last. For a job with another one all of its burst counts as used
 * up by that start, so it starts an interval of its own rate later at the earliest. What was used
 * up before can only have been less.
 */
public final class TokenBucket {
  /** What its record is called. */
  final String record;

  /** Runs when an attempt may start again. */
  final Runnable free;

  /** Whether each start brings its own rate. */
  private final boolean followsJobs;

  private Rate rate;

  /** When it is full again, by the clock that only moves forward. */
  private long fullNanos;

  /** When the last start was, at the latest; means nothing while none is known of. */
  private long lastNanos;

  private boolean started;
  private Take lastTake;

  /** The rate that its record tells of. */
  private Rate durableRate;

  /** As far as what is used up of that may go before the record is written again. */
  private long durableNanos;

  boolean read;

  /** Whether it was ever read. */
  private boolean known;

  boolean busy;
  Stamp version = Stamp.ABSENT;
  Timers.@Nullable Timer wake;

  private TokenBucket(String record, Rate rate, Runnable free, boolean followsJobs) {
    this.record = record;
    this.free = free;
    this.rate = rate;
    this.durableRate = rate;
    this.followsJobs = followsJobs;
    this.lastTake = new Take(rate, 0, 0, false, Long.MIN_VALUE);
  }

  /** Of a queue or namespace, whose rate is set. */
  public static TokenBucket set(String record, Rate rate, Runnable free) {
    return new TokenBucket(record, rate, free, false);
  }

  /** Of a concurrency key, whose jobs bring their rates. */
  public static TokenBucket followingJobs(String record, Rate first, Runnable free) {
    return new TokenBucket(record, first, free, true);
  }

  static long intervalNanos(Rate rate) {
    return rate.period().toNanos() / rate.permits();
  }

  /** How much of a rate may be used up at most. */
  static long capacityNanos(Rate rate) {
    return intervalNanos(rate) * rate.burst();
  }

  public Rate rate() {
    return rate;
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
    durableRate = newRate;
    fullNanos = Math.min(fullNanos, now + capacityNanos(newRate));
    return true;
  }

  /** Whether what its record tells of is another rate. */
  public boolean isWrittenForOther(Rate asked) {
    return !asked.equals(durableRate);
  }

  private long fullNanos(Rate asked, long now) {
    if (asked.equals(rate)) {
      return fullNanos;
    }
    return started ? lastNanos + capacityNanos(asked) : now;
  }

  /** How much is used up for one that goes by a rate. */
  long usedNanos(Rate asked, long now) {
    return Math.max(0, fullNanos(asked, now) - now);
  }

  /** How long until an attempt may start by a rate; not positive where one may. */
  public long waitNanos(Rate asked, long now) {
    return fullNanos(asked, now) - (capacityNanos(asked) - intervalNanos(asked)) - now;
  }

  /** How much may be used up by a rate from now on before the record is written again. */
  long durableNanos(Rate asked, long now) {
    return isWrittenForOther(asked) ? 0 : durableNanos - Math.max(fullNanos(asked, now), now);
  }

  /** Whether its record was read. */
  public boolean isKnown() {
    return read;
  }

  /** Whether its record allows one more start by a rate. */
  public boolean isReady(Rate asked, long now) {
    return durableNanos(asked, now) >= intervalNanos(asked);
  }

  void take(Rate asked, long now) {
    long full = Math.max(fullNanos(asked, now), now) + intervalNanos(asked);
    lastTake = new Take(rate, fullNanos, lastNanos, started, full);
    rate = asked;
    fullNanos = full;
    lastNanos = now;
    started = true;
  }

  /** One start that was used up: what was before it, and when it would all be there after it. */
  public record Take(Rate rate, long fullNanos, long lastNanos, boolean started, long afterNanos) {}

  public Take lastTake() {
    return lastTake;
  }

  /** What was taken was not used; too late where more was taken since. */
  public void giveBack(Take take) {
    if (fullNanos == take.afterNanos()) {
      rate = followsJobs ? take.rate() : rate;
      fullNanos = take.fullNanos();
      lastNanos = take.lastNanos();
      started = take.started();
      free.run();
    }
  }

  /** The rate that the record tells of, where this node has not started anything by another. */
  void remember(Rate recorded) {
    if (followsJobs && !known) {
      rate = recorded;
    }
  }

  /** So long ago, at the least, was the last start that the record tells of. */
  void rememberStart(long now, long agoNanos) {
    if (!started || lastNanos < now - agoNanos) {
      lastNanos = now - agoNanos;
      started = true;
    }
  }

  /** So much is used up, as its record says; what this node took itself it knows better. */
  void remember(long now, long used) {
    fullNanos = known ? Math.max(fullNanos, now + used) : now + used;
    known = true;
    durableRate = rate;
    durableNanos = fullNanos;
    read = true;
  }

  /** The record tells of a rate, and how far that may be used up. */
  void durable(Rate written, long untilNanos) {
    durableRate = written;
    durableNanos = untilNanos;
  }
}
