package dev.carillon.server.access;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The time by which tokens end. It never goes back in a process, whatever the wall clock does. A
 * jump forward counts against tokens at once, but what it ends is written down only after the clock
 * has stayed there for a minute. Thread-safe.
 */
final class TokenClock {
  private static final Duration JUMP = Duration.ofSeconds(10);
  private static final long BELIEVED_AFTER_NANOS = Duration.ofMinutes(1).toNanos();

  private final InstantSource wall;
  private final LongSupplier nanos;
  private Instant settled;
  private long settledNanos;
  private @Nullable Long aheadSince;

  TokenClock(InstantSource wall, LongSupplier nanos) {
    this.wall = wall;
    this.nanos = nanos;
    this.settled = wall.instant();
    this.settledNanos = nanos.getAsLong();
  }

  /** The latest that it may be: what is over by it lets nobody in. */
  synchronized Instant latest() {
    Instant shown = wall.instant();
    Instant known = settled();
    return shown.isAfter(known) ? shown : known;
  }

  /** What it is for sure: what is over by it may be written down. */
  synchronized Instant settled() {
    long at = nanos.getAsLong();
    Instant shown = wall.instant();
    Instant expected = settled.plusNanos(at - settledNanos);
    if (shown.isAfter(expected.plus(JUMP)) && !isBelieved(at)) {
      settled = expected;
    } else {
      aheadSince = null;
      settled = shown.isAfter(expected) ? shown : expected;
    }
    settledNanos = at;
    return settled;
  }

  private boolean isBelieved(long at) {
    if (aheadSince == null) {
      aheadSince = at;
    }
    return at - aheadSince >= BELIEVED_AFTER_NANOS;
  }
}
