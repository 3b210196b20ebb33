package dev.carillon.simulator;

/** Waits for due jobs once everything has healed, and says when that has taken too long. */
final class Patience {
  private static final long LOOK_NANOS = 30 * VirtualClock.SECOND;

  private final World world;
  private long healedWallMicros;
  private long nextLookNanos;

  Patience(World world) {
    this.world = world;
  }

  void healed() {
    healedWallMicros = world.clock.wallMicros();
  }

  /** How long after its due time, or the last fault, a job may take to end; in microseconds. */
  private long boundMicros() {
    return world.climate.horizonNanos() / VirtualClock.MICRO + 120_000_000;
  }

  void look() {
    if (world.clock.nanos() < nextLookNanos) {
      return;
    }
    nextLookNanos = world.clock.nanos() + LOOK_NANOS;
    long now = world.clock.wallMicros();
    for (ModelShard shard : world.model.shards()) {
      if (shard.live > 0) {
        for (ModelJob job : shard.jobs.values()) {
          long waited = now - Math.max(job.due, healedWallMicros);
          Violation.check(
              !job.live() || waited <= boundMicros(),
              Guarantee.NOT_STUCK,
              () -> job + " is due for " + waited / 1_000_000 + " s and has not ended");
        }
      }
    }
  }
}
