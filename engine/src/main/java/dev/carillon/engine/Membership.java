package dev.carillon.engine;

import java.time.Duration;

/**
 * How a node counts itself, and others, among those who are there.
 *
 * @param beat how often a node says that it is there, and looks who is
 * @param timeout how long after its last beat a node is dead to others; it stops itself before
 * @param forget how long after its last beat a node is expected back
 * @param returns whether a node of this id may come back after it stopped in order; if not it is
 *     forgotten at once
 */
public record Membership(Duration beat, Duration timeout, Duration forget, boolean returns) {

  /** Beats a timeout must have room for: two may be lost without a node being taken for dead. */
  private static final int LEAST_BEATS = 3;

  public Membership {
    if (beat.isNegative() || beat.isZero()) {
      throw new IllegalArgumentException("beat: " + beat + " (expected: above zero)");
    }
    if (timeout.compareTo(beat.multipliedBy(LEAST_BEATS)) < 0) {
      throw new IllegalArgumentException(
          "member timeout: "
              + timeout
              + " (expected: at least "
              + LEAST_BEATS
              + " beats of "
              + beat
              + ")");
    }
    if (forget.compareTo(timeout) < 0) {
      throw new IllegalArgumentException(
          "forget: " + forget + " (expected: at least the member timeout, " + timeout + ")");
    }
  }

  /** The defaults. */
  public static Membership standard() {
    return new Membership(
        Duration.ofMillis(500), Duration.ofMillis(2500), Duration.ofMinutes(10), true);
  }
}
