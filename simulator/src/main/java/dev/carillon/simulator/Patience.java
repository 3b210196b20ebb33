package dev.carillon.simulator;

/** Waits for due jobs once everything has healed, and says when that has taken too long. */
final class Patience {
  private static final long LOOK_NANOS = 30 * VirtualClock.SECOND;

  private final World world;
  private long healedNanos;
  private long nextLookNanos;

  Patience(World world) {
    this.world = world;
  }

  void healed() {
    healedNanos = world.clock.nanos();
  }

  /** How long after its due time, or the last fault, a job may take to go on. */
  private long boundNanos() {
    return world.climate.horizonNanos() + 120 * VirtualClock.SECOND;
  }

  void look() {
    if (world.clock.nanos() < nextLookNanos) {
      return;
    }
    nextLookNanos = world.clock.nanos() + LOOK_NANOS;
    for (ModelShard shard : world.model.shards()) {
      if (shard.live > 0) {
        for (ModelJob job : shard.jobs.values()) {
          long due = job.broken() ? Long.MIN_VALUE : world.clock.nanosAtWall(job.due);
          long possible =
              Math.max(
                  Math.max(world.keys.possibleNanos(job), world.model.awaitedEndNanos(job)),
                  Math.max(job.possibleNanos(), healedNanos));
          long waited = world.clock.nanos() - Math.max(due, possible);
          Violation.check(
              !job.live()
                  || waited <= boundNanos()
                  || job.mayWaitInLine()
                  || job.pauseReason != null, // perhaps by a write that was late
              Guarantee.NOT_STUCK,
              () -> job + " is due for " + waited / VirtualClock.SECOND + " s and has not ended");
        }
      }
    }
  }
}
