package dev.carillon.simulator;

/** The line between a node's machine and the store, which is cut now and then. */
final class StoreLine {
  private final VirtualClock clock;
  private long cutUntilNanos;

  StoreLine(VirtualClock clock) {
    this.clock = clock;
  }

  /** Nothing passes for so long. */
  void cut(long nanos) {
    cutUntilNanos = Math.max(cutUntilNanos, clock.nanos() + nanos);
  }

  boolean isCut() {
    return clock.nanos() < cutUntilNanos;
  }

  long cutUntilNanos() {
    return cutUntilNanos;
  }
}
