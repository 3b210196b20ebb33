package dev.carillon.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * The clocks of one node's machine, which outlive the node's starts: a wall clock that stands where
 * it stands and jumps when told, and a monotonic one that runs a little fast or slow. It remembers
 * the jumps, for checks that must not depend on the moment at which somebody looked.
 */
final class NodeClock {
  private static final long MICRO = VirtualClock.MICRO;
  private static final long MILLION = 1_000_000;

  private final VirtualClock time;
  private final long driftPerMillion;
  private long wallOffsetMicros;
  private final List<Jump> jumps = new ArrayList<>();

  /** The wall clock was left at {@code wallMicros}. */
  private record Jump(long nanos, long wallMicros, long byMicros) {}

  /** Clocks of which the monotonic one gains so many microseconds in a second. */
  NodeClock(VirtualClock time, long wallMicros, long driftPerMillion) {
    this.time = time;
    this.wallOffsetMicros = wallMicros;
    this.driftPerMillion = driftPerMillion;
  }

  /** What the machine's own monotonic clock shows. */
  long monotonicNanos() {
    long nanos = time.nanos();
    return nanos + nanos / MILLION * driftPerMillion;
  }

  /** How long it takes until the monotonic clock has gone on by so much, or a trifle more. */
  long virtualNanos(long ownNanos) {
    return driftPerMillion == 0
        ? ownNanos
        : ownNanos - ownNanos / MILLION * driftPerMillion + MICRO;
  }

  /** How long it takes at least until the monotonic clock has gone on by so much. */
  long leastVirtualNanos(long ownNanos) {
    return driftPerMillion == 0
        ? ownNanos
        : ownNanos - ownNanos / MILLION * driftPerMillion - MICRO;
  }

  long wallMicros() {
    return wallOffsetMicros + time.nanos() / MICRO;
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

  /** When the wall clock last showed {@code wallMicros}. */
  long nanosWhenWallWas(long wallMicros) {
    long offset = wallOffsetMicros;
    long until = time.nanos();
    for (Jump jump : jumps.reversed()) {
      long at = (wallMicros - offset) * MICRO;
      if (at >= jump.nanos && at <= until) {
        return at;
      }
      until = jump.nanos;
      offset -= jump.byMicros;
    }
    return (wallMicros - offset) * MICRO;
  }

  /** Whether the wall clock showed {@code wallMicros} at one moment only. */
  boolean wallWasOnce(long wallMicros) {
    int moments = 0;
    long offset = wallOffsetMicros;
    long until = time.nanos();
    for (Jump jump : jumps.reversed()) {
      long at = (wallMicros - offset) * MICRO;
      moments += at >= jump.nanos && at <= until ? 1 : 0;
      until = jump.nanos;
      offset -= jump.byMicros;
    }
    moments += (wallMicros - offset) * MICRO <= until ? 1 : 0;
    return moments == 1;
  }

  /** The wall clock jumps, either way. */
  void jump(long micros) {
    jumps.add(new Jump(time.nanos(), wallMicros(), micros));
    wallOffsetMicros += micros;
  }

  /** When the wall clock will show {@code wallMicros}, if it does not jump. */
  long nanosAtWall(long wallMicros) {
    return (wallMicros - wallOffsetMicros) * MICRO;
  }
}
