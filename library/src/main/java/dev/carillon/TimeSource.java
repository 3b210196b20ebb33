package dev.carillon;

import java.time.Instant;

/**
 * The two clocks a node lives by. Everybody but tests uses {@link #system()}. Must be thread-safe.
 */
public interface TimeSource {

  /**
   * The wall clock, which decides when a job is due; it may jump either way.
   *
   * @return microseconds since 1970
   */
  long wallMicros();

  /**
   * A clock that only moves forward, which measures timeouts and delays.
   *
   * @return nanoseconds from an arbitrary origin
   */
  long monotonicNanos();

  /**
   * Called once when a node starts to use these clocks. A clock that is moved by hand keeps {@code
   * control}, to tell the node that it moved and to learn when the node has caught up.
   *
   * @param control of the node's loop
   */
  default void attached(LoopControl control) {}

  /**
   * The clocks of this machine.
   *
   * @return the same instance each time
   */
  static TimeSource system() {
    return SystemTime.INSTANCE;
  }

  /** The clocks of this machine. */
  enum SystemTime implements TimeSource {
    /** The only one. */
    INSTANCE;

    private static final long MICROS_PER_SECOND = 1_000_000;

    @Override
    public long wallMicros() {
      Instant now = Instant.now();
      return now.getEpochSecond() * MICROS_PER_SECOND + now.getNano() / 1000;
    }

    @Override
    public long monotonicNanos() {
      return System.nanoTime();
    }
  }
}
