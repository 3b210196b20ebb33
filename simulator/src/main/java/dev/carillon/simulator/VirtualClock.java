package dev.carillon.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * Virtual time: a monotonic clock that the event queue moves, and a wall clock that runs beside it
 * and jumps when told. It remembers the jumps, for checks that must not depend on the moment at
 * which somebody looked.
 */
final class VirtualClock {
  static final long SECOND = 1_000_000_000L;
  static final long MILLI = 1_000_000L;
  static final long MICRO = 1_000L;

  private long nanos;
  private long wallOffsetMicros;
  private final List<Jump> jumps = new ArrayList<>();

  /** The wall clock was left at {@code wallMicros}. */
  private record Jump(long nanos, long wallMicros, long byMicros) {}

  VirtualClock(long wallMicros) {
    this.wallOffsetMicros = wallMicros;
  }

  /** The monotonic clock. */
  long nanos() {
    return nanos;
  }

  long wallMicros() {
    return wallOffsetMicros + nanos / MICRO;
  }

  /** The highest time the wall clock showed from {@code sinceNanos} until now. */
  long highestWallSince(long sinceNanos) {
    long highest = wallMicros();
    for (Jump jump : jumps) {
      if (jump.nanos >= sinceNanos) {
        highest = Math.max(highest, jump.wallMicros);
      }
    }
    return highest;
  }

  /** How often the wall clock jumped back. */
  int jumpsBack() {
    int back = 0;
    for (Jump jump : jumps) {
      back += jump.byMicros < 0 ? 1 : 0;
    }
    return back;
  }

  /** Whether the wall clock has jumped back since then. */
  boolean jumpedBackSince(long sinceNanos) {
    return jumps.stream().anyMatch(jump -> jump.byMicros < 0 && jump.nanos >= sinceNanos);
  }

  /** When, by the monotonic clock, the wall clock last showed {@code wallMicros}. */
  long nanosWhenWallWas(long wallMicros) {
    long offset = wallOffsetMicros;
    for (Jump jump : jumps.reversed()) {
      long at = (wallMicros - offset) * MICRO;
      if (at >= jump.nanos && at <= nanos) {
        return at;
      }
      offset -= jump.byMicros;
    }
    return (wallMicros - offset) * MICRO;
  }

  /** Whether the wall clock showed {@code wallMicros} at one moment only. */
  boolean wallWasOnce(long wallMicros) {
    int moments = 0;
    long offset = wallOffsetMicros;
    long until = nanos;
    for (Jump jump : jumps.reversed()) {
      long at = (wallMicros - offset) * MICRO;
      moments += at >= jump.nanos && at <= until ? 1 : 0;
      until = jump.nanos;
      offset -= jump.byMicros;
    }
    moments += (wallMicros - offset) * MICRO <= until ? 1 : 0;
    return moments == 1;
  }

  void moveTo(long newNanos) {
    if (newNanos < nanos) {
      throw new IllegalStateException("time: " + newNanos + " (expected: at least " + nanos + ")");
    }
    nanos = newNanos;
  }

  /** The wall clock jumps, either way. */
  void jump(long micros) {
    jumps.add(new Jump(nanos, wallMicros(), micros));
    wallOffsetMicros += micros;
  }

  /** When the monotonic clock will stand where the wall clock now expects {@code wallMicros}. */
  long nanosAtWall(long wallMicros) {
    return (wallMicros - wallOffsetMicros) * MICRO;
  }
}
