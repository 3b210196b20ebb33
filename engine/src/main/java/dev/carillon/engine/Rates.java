package dev.carillon.engine;

import dev.carillon.api.Rate;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps rates, across restarts too. What a bucket has used up goes into its record ahead of time, a
 * second's worth at once, so that a busy rate costs a write a second and a slow one a write a
 * start.
 *
 * <p>Crash table: the record is never behind the starts, so a node that goes on from it starts none
 * too many. Its time is one of the wall clock: a clock that was put back meanwhile costs at most a
 * whole bucket and a second, one that was put forward gives at most a whole bucket.
 */
final class Rates {
  /** How the records of rates begin. */
  static final String RECORDS = "r\0";

  /** How those of concurrency keys begin. */
  static final String KEY_RECORDS = RECORDS + "c\0";

  private static final long AHEAD_NANOS = 1_000_000_000;
  private static final int VERSION = 1;
  private static final int PAGE = 1000;

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final Timers timers;

  Rates(NodeEnvironment env, RecordChanges records, Timers timers) {
    this.env = env;
    this.records = records;
    this.timers = timers;
  }

  /** Whether an attempt may start now; if not, the bucket's {@code free} runs when one may. */
  boolean mayTake(TokenBucket bucket) {
    if (!bucket.read) {
      read(bucket);
      return false;
    }
    long now = env.monotonicNanos();
    long wait = bucket.waitNanos(now);
    if (wait > 0) {
      wakeAt(bucket, now + wait);
      return false;
    }
    long left = bucket.durableNanos(now);
    if (left < bucket.intervalNanos() + AHEAD_NANOS / 2) {
      write(bucket, now);
    }
    return left >= bucket.intervalNanos();
  }

  /** Sets another rate; those that wait for the old one are offered the new. */
  void change(TokenBucket bucket, Rate rate) {
    long now = env.monotonicNanos();
    if (bucket.rate(rate, now)) {
      timers.cancel(bucket.wake);
      bucket.wake = timers.at(now, bucket.free);
    }
  }

  void take(TokenBucket bucket) {
    bucket.take(env.monotonicNanos());
  }

  /** Lets go of a bucket and its record if all of it is there; false where it is not. */
  boolean forget(TokenBucket bucket) {
    long now = env.monotonicNanos();
    if (bucket.busy || bucket.usedNanos(now) > 0 || bucket.durableNanos(now) > 0) {
      return false;
    }
    if (!bucket.version.equals(Stamp.ABSENT)) {
      records.change(bucket.record, bucket.version, null, inEffect -> {});
    }
    return true;
  }

  private void wakeAt(TokenBucket bucket, long nanos) {
    if (bucket.wake == null || bucket.wake.isOver()) {
      bucket.wake = timers.at(nanos, bucket.free);
    }
  }

  private void read(TokenBucket bucket) {
    if (bucket.busy) {
      return;
    }
    bucket.busy = true;
    records.get(
        bucket.record,
        found -> {
          bucket.busy = false;
          remember(bucket, found);
          bucket.free.run();
        });
  }

  private void remember(TokenBucket bucket, Optional<Stored> found) {
    long now = env.monotonicNanos();
    long most = bucket.capacityNanos() + AHEAD_NANOS;
    long micros = found.map(stored -> untilMicros(stored) - env.wallMicros()).orElse(0L);
    long used = Math.clamp(micros, 0, most / 1000) * 1000;
    bucket.version = found.map(Stored::version).orElse(Stamp.ABSENT);
    bucket.remember(now, Math.max(used, bucket.usedNanos(now)));
  }

  /** Until when the rate is used up; for ever where the record cannot be read. */
  private long untilMicros(Stored record) {
    try {
      ByteReader in = new ByteReader(record.value(), 0, record.value().length);
      int version = in.u8();
      if (version != VERSION) {
        throw new UnknownFormatException("rate record: version " + version + " (expected: 1)");
      }
      return Math.min(in.i64(), Long.MAX_VALUE / 2);
    } catch (DamagedException | UnknownFormatException e) {
      env.report("a rate's record cannot be read, all of it counts as used up", e);
      return Long.MAX_VALUE / 2;
    }
  }

  /** Deletes what was left behind by keys that nobody uses any more. */
  void sweep() {
    sweep(null);
  }

  private void sweep(@Nullable String after) {
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().list(KEY_RECORDS, after, PAGE),
        outcome -> {
          if (!(outcome instanceof Outcome.Ok<List<Stored>>(List<Stored> page))) {
            return; // the next start does it
          }
          for (Stored record : page) {
            if (untilMicros(record) < env.wallMicros()) {
              records.change(record.key(), record.version(), null, inEffect -> {});
            }
          }
          if (page.size() == PAGE) {
            sweep(page.getLast().key());
          }
        });
  }

  private void write(TokenBucket bucket, long now) {
    if (bucket.busy) {
      return;
    }
    bucket.busy = true;
    long used = bucket.usedNanos(now) + bucket.intervalNanos() + AHEAD_NANOS;
    long untilMicros = env.wallMicros() + Math.ceilDiv(used, 1000);
    byte[] value = new ByteWriter(9).u8(VERSION).i64(untilMicros).toBytes();
    bucket.version =
        records.change(
            bucket.record,
            bucket.version,
            value,
            inEffect -> {
              bucket.busy = false;
              if (inEffect) {
                bucket.durable(now + used);
              } else {
                bucket.read = false; // somebody else's: it is read again
              }
              bucket.free.run();
            });
  }
}
