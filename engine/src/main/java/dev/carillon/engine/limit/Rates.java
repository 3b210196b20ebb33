package dev.carillon.engine.limit;

import dev.carillon.api.Rate;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.RecordSweep;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.ConcurrencyFormat;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
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
public final class Rates {
  /** How the records of rates begin. */
  public static final String RECORDS = "r\0";

  /** How those of concurrency keys begin. */
  public static final String KEY_RECORDS = RECORDS + "c\0";

  private static final long AHEAD_NANOS = 1_000_000_000;
  private static final int VERSION = 1;

  /** Longer than the longest interval. */
  private static final long LONGEST_AGO_MICROS = 400L * 86_400 * Micros.PER_SECOND;

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final Timers timers;

  public Rates(NodeEnvironment env, RecordChanges records, Timers timers) {
    this.env = env;
    this.records = records;
    this.timers = timers;
  }

  /** Whether an attempt may start now; if not, the bucket's {@code free} runs when one may. */
  public boolean mayTake(TokenBucket bucket) {
    return mayTake(bucket, bucket.rate());
  }

  /** The same by the rate of a job. */
  public boolean mayTake(TokenBucket bucket, Rate rate) {
    if (!bucket.read) {
      read(bucket);
      return false;
    }
    long now = env.monotonicNanos();
    long wait = bucket.waitNanos(rate, now);
    if (wait > 0) {
      wakeBy(bucket, now + wait);
      return false;
    }
    long interval = TokenBucket.intervalNanos(rate);
    long left = bucket.durableNanos(rate, now);
    if (left < interval + AHEAD_NANOS / 2) {
      write(bucket, rate, now);
    }
    return left >= interval;
  }

  /** Sets another rate; those that wait for the old one are offered the new. */
  public void change(TokenBucket bucket, Rate rate) {
    long now = env.monotonicNanos();
    if (bucket.rate(rate, now)) {
      timers.cancel(bucket.wake);
      bucket.wake = timers.at(now, bucket.free);
    }
  }

  /** Has those that wait for the rate look again. */
  public void lookAgain(TokenBucket bucket) {
    wakeBy(bucket, env.monotonicNanos());
  }

  public void take(TokenBucket bucket) {
    take(bucket, bucket.rate());
  }

  /** One starts by a rate, which {@link #mayTake} allowed. */
  public void take(TokenBucket bucket, Rate rate) {
    bucket.take(rate, env.monotonicNanos());
  }

  /** Lets go of a bucket and its record if all of it is there; false where it is not. */
  public boolean forget(TokenBucket bucket) {
    long now = env.monotonicNanos();
    Rate rate = bucket.rate();
    if (bucket.busy || bucket.usedNanos(rate, now) > 0 || bucket.durableNanos(rate, now) > 0) {
      return false;
    }
    if (!bucket.version.equals(Stamp.ABSENT)) {
      records.change(bucket.record, bucket.version, null, inEffect -> {});
    }
    return true;
  }

  private void wakeBy(TokenBucket bucket, long nanos) {
    if (bucket.wake == null || bucket.wake.isAfter(nanos)) {
      timers.cancel(bucket.wake);
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
    UsedUp record = found.map(this::usedUp).orElse(null);
    if (record != null && record.rate() != null) {
      bucket.remember(record.rate());
    }
    long micros = record != null ? record.untilMicros() - env.wallMicros() : 0;
    Rate rate = bucket.rate();
    long most = TokenBucket.capacityNanos(rate) + AHEAD_NANOS;
    long used = Math.clamp(micros, 0, most / 1000) * 1000;
    if (record != null) {
      // Each start leaves the time at which it would all be there an interval ahead of itself.
      long ago = Math.clamp(-micros, -LONGEST_AGO_MICROS, LONGEST_AGO_MICROS) * 1000;
      bucket.rememberStart(now, Math.max(0, ago + TokenBucket.intervalNanos(rate)));
    }
    bucket.version = found.map(Stored::version).orElse(Stamp.ABSENT);
    bucket.remember(now, Math.max(used, bucket.usedNanos(rate, now)));
  }

  /** What a record says: until when a rate is used up, and which; null where it cannot be read. */
  private record UsedUp(long untilMicros, @Nullable Rate rate) {
    /** For ever. */
    static final UsedUp UNREADABLE = new UsedUp(Long.MAX_VALUE / 2, null);

    byte[] encode() {
      ByteWriter out = new ByteWriter(24).u8(VERSION).i64(untilMicros);
      ConcurrencyFormat.writeRate(rate, out);
      return out.toBytes();
    }

    static UsedUp decode(byte[] bytes) {
      ByteReader in = new ByteReader(bytes);
      in.requireVersion("rate record", VERSION);
      return new UsedUp(Math.min(in.i64(), Long.MAX_VALUE / 2), ConcurrencyFormat.readRate(in));
    }
  }

  private UsedUp usedUp(Stored record) {
    try {
      return UsedUp.decode(record.value());
    } catch (DamagedException | UnknownFormatException | InvalidJobException e) {
      env.report("a rate's record cannot be read, all of it counts as used up", e);
      return UsedUp.UNREADABLE;
    }
  }

  /** Deletes what was left behind by keys that nobody uses any more; again at the next start. */
  public void sweep() {
    new RecordSweep(env, records, KEY_RECORDS, this::isUnused).begin();
  }

  private boolean isUnused(Stored record) {
    return usedUp(record).untilMicros() < env.wallMicros();
  }

  private void write(TokenBucket bucket, Rate rate, long now) {
    if (bucket.busy) {
      return;
    }
    bucket.busy = true;
    if (bucket.isWrittenForOther(rate)) {
      bucket.durable(rate, now); // from here on the record may tell of the other no more
    }
    long used = bucket.usedNanos(rate, now) + TokenBucket.intervalNanos(rate) + AHEAD_NANOS;
    long untilMicros = env.wallMicros() + Math.ceilDiv(used, 1000);
    bucket.version =
        records.change(
            bucket.record,
            bucket.version,
            new UsedUp(untilMicros, rate).encode(),
            inEffect -> {
              bucket.busy = false;
              if (inEffect) {
                bucket.durable(rate, now + used);
              } else {
                bucket.read = false; // somebody else's: it is read again
              }
              bucket.free.run();
            });
  }
}
