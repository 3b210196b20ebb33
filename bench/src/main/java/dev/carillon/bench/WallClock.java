package dev.carillon.bench;

import java.time.Instant;

/** The wall clock in numbers. */
final class WallClock {
  private static final long MICROS_PER_SECOND = 1_000_000;

  private WallClock() {}

  static long micros() {
    Instant now = Instant.now();
    return now.getEpochSecond() * MICROS_PER_SECOND + now.getNano() / 1000;
  }

  /** Negative while that time is to come. */
  static long nanosSince(long micros) {
    Instant now = Instant.now();
    return (now.getEpochSecond() * MICROS_PER_SECOND - micros) * 1000 + now.getNano();
  }

  static Instant instant(long micros) {
    return Instant.ofEpochSecond(micros / MICROS_PER_SECOND, micros % MICROS_PER_SECOND * 1000);
  }
}
