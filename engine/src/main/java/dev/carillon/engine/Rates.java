package dev.carillon.engine;

import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.Optional;

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

  private final NodeEnvironment env;
  private final Names records;
  private final Timers timers;

  Rates(NodeEnvironment env, Names records, Timers timers) {
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
    long most = bucket.capacityNanos() + AHEAD_NANOS;
    long used = found.map(stored -> usedNanos(stored.value())).orElse(0L);
    bucket.version = found.map(Stored::version).orElse(Stamp.ABSENT);
    bucket.remember(env.monotonicNanos(), Math.clamp(used, 0, most));
  }

  private long usedNanos(byte[] value) {
    ByteReader in = new ByteReader(value, 0, value.length);
    int version = in.u8();
    if (version != VERSION) {
      throw new UnknownFormatException("rate record: version " + version + " (expected: 1)");
    }
    long micros = in.i64() - env.wallMicros();
    return micros > Long.MAX_VALUE / 1000 ? Long.MAX_VALUE : micros * 1000;
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
