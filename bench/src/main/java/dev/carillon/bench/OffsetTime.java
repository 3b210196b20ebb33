package dev.carillon.bench;

import dev.carillon.TimeSource;
import java.time.Duration;

/** The clocks of this machine, but that the wall clock is ahead. */
record OffsetTime(long aheadMicros) implements TimeSource {

  static OffsetTime ahead(Duration duration) {
    return new OffsetTime(duration.toNanos() / 1000);
  }

  @Override
  public long wallMicros() {
    return WallClock.micros() + aheadMicros;
  }

  @Override
  public long monotonicNanos() {
    return TimeSource.system().monotonicNanos();
  }

  long nanosSince(long micros) {
    return WallClock.nanosSince(micros - aheadMicros);
  }
}
