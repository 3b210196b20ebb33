package dev.carillon.simulator;

/** The line between a node's machine and the store, which is cut now and then. */
final class StoreLine {
  private final World world;
  private long cutUntilNanos;

  StoreLine(World world) {
    this.world = world;
  }

  /** Nothing passes for so long. */
  void cut(long nanos) {
    cutUntilNanos = Math.max(cutUntilNanos, world.clock.nanos() + nanos);
    world.goesWrongUntil(cutUntilNanos);
  }

  boolean isCut() {
    return world.clock.nanos() < cutUntilNanos;
  }

  long cutUntilNanos() {
    return cutUntilNanos;
  }
}
