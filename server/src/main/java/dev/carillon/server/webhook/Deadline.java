package dev.carillon.server.webhook;

import java.time.Duration;

/**
 * When an attempt to send a webhook is over, by the monotonic clock. Immutable.
 *
 * @param nanos by {@link System#nanoTime}
 * @param whole how long the attempt has in all, for messages
 */
record Deadline(long nanos, Duration whole) {
  static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos(), time);
  }

  /** What is left; at least a millisecond. */
  Duration left() {
    long left = nanos - System.nanoTime();
    return Duration.ofNanos(Math.max(left, 1_000_000));
  }
}
