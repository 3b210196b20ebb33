package dev.carillon.simulator;

/**
 * Lets days pass when nothing happens but heartbeats: all wall clocks go on at once to shortly
 * before the next due time. To the nodes that is a jump, and never one over something.
 */
final class Lull {
  private static final long LOOK_NANOS = VirtualClock.SECOND / 4;
  private static final long LEAST_NANOS = VirtualClock.SECOND / 2;

  private final World world;
  private final Fleet fleet;
  private final UserOperations operations;
  private long nextLookNanos;
  private boolean quietBefore;

  /** How many nodes are away, which are not waited for. */
  int away;

  /** Whether time passes as it is for now. */
  boolean off;

  Lull(World world, Fleet fleet, UserOperations operations) {
    this.world = world;
    this.fleet = fleet;
    this.operations = operations;
  }

  void look() {
    if (world.clock.nanos() < nextLookNanos) {
      return;
    }
    nextLookNanos = world.clock.nanos() + LOOK_NANOS;
    if (off || !world.healthy()) {
      return;
    }
    boolean quiet = !operations.any() && !world.model.owes() && allOpen();
    if (quiet && quietBefore) {
      long toNextDue = world.model.nanosToNextDue(false);
      if (toNextDue > 2 * LEAST_NANOS && toNextDue < Long.MAX_VALUE) {
        long micros = (toNextDue - LEAST_NANOS) / VirtualClock.MICRO;
        world.trace.note("lull", micros);
        world.clock.jump(micros);
      }
    }
    quietBefore = quiet;
  }

  private boolean allOpen() {
    return fleet.current().stream().filter(Life::open).count() == world.climate.nodes - away;
  }
}
