package dev.carillon.simulator;

import dev.carillon.engine.job.WorkflowWait;

/** Waits for due jobs once everything has healed, and says when that has taken too long. */
final class Patience {
  private static final long LOOK_NANOS = 30 * VirtualClock.SECOND;
  private static final long SOON_NANOS = 5 * VirtualClock.SECOND;

  private final World world;
  private long healedNanos;
  private long nextLookNanos;
  private boolean over;

  Patience(World world) {
    this.world = world;
  }

  void healed() {
    healedNanos = world.clock.nanos();
  }

  /** All nodes stop: what a write that comes late adds now is for nobody here. */
  void over() {
    over = true;
  }

  /** How long after its due time, or the last fault, a job may take to go on. */
  static long boundNanos(World world) {
    return world.climate.horizonNanos() + 120 * VirtualClock.SECOND;
  }

  /** What a shard owes others is paid in time. */
  private void pays(ModelShard shard) {
    if (!world.lives(shard.owner) && shard.wake > world.clock.latestWallMicros()) {
      shard.debtNanos = world.clock.nanos(); // clocks went back: nobody comes before its time
      return;
    }
    long owed = world.clock.nanos() - Math.max(shard.debtNanos, healedNanos);
    Violation.check(
        shard.debts.isEmpty() || shard.dropped || owed <= 2 * boundNanos(world),
        Guarantee.NOT_STUCK,
        () ->
            "shard "
                + shard.index
                + " has owed "
                + shard.debts
                + " for "
                + owed / VirtualClock.SECOND
                + " s");
  }

  /** A shard that wakes has an owner who lives, or soon will. */
  private void hasOwner(ModelShard shard) {
    Together together = world.climate.together;
    if (together == null
        || world.lives(shard.owner)
        || shard.wake > world.clock.latestWallMicros()) {
      return;
    }
    long awake = Math.max(world.clock.nanosAtWall(shard.wake), world.clock.jumpedNanos());
    long since = Math.max(shard.freeNanos, awake);
    long free = world.clock.nanos() - Math.max(since, world.healthyFromNanos());
    long bound = world.climate.horizonNanos() / 4 + 2 * together.timeoutNanos + SOON_NANOS;
    Violation.check(
        free <= bound,
        Guarantee.NOT_STUCK,
        () ->
            "shard "
                + shard.index
                + " should be awake and has had no owner for "
                + free / VirtualClock.SECOND
                + " s");
  }

  /** A workflow whose wait is over goes on. */
  private void goesOn(WorkflowRecord workflow) {
    long due = workflow.awakeBy();
    if (!workflow.live || due >= WorkflowWait.FOR_EVER) {
      return; // it waits for news alone, which lowers that
    }
    long since =
        Math.max(world.clock.nanosAtWall(due), Math.max(healedNanos, workflow.touchedNanos));
    long waited = world.clock.nanos() - since;
    Violation.check(
        waited <= boundNanos(world),
        Guarantee.NOT_STUCK,
        () -> workflow + " is due for " + waited / VirtualClock.SECOND + " s and does not go on");
  }

  /** What a worker may run is run, also where the one before it was lost. */
  private void goesOn(WorkerRecord job) {
    long since =
        Math.max(world.clock.nanosAtWall(job.due), Math.max(healedNanos, job.touchedNanos));
    long waited = world.clock.nanos() - since;
    Violation.check(
        !job.live || job.keyed || waited <= 2 * boundNanos(world),
        Guarantee.NOT_STUCK,
        () -> job + " is due for " + waited / VirtualClock.SECOND + " s and does not go on");
  }

  /** Nobody goes on for long as if the store had not gone back in time. */
  private void hasNoticed(Life life) {
    Violation.check(
        !life.stale() || !world.healthy(),
        Guarantee.WENT_BACK,
        () -> "node " + life.nodeIndex + " has not noticed that the store went back in time");
  }

  void look() {
    if (over || world.clock.nanos() < nextLookNanos) {
      return;
    }
    nextLookNanos = world.clock.nanos() + LOOK_NANOS;
    world.living().forEach(this::hasNoticed);
    for (ModelShard shard : world.model.shards()) {
      pays(shard);
      if (shard.live > 0) {
        hasOwner(shard);
        shard.workflows.values().forEach(this::goesOn);
        shard.workerJobs.values().forEach(this::goesOn);
        for (ModelJob job : shard.jobs.values()) {
          long due = job.broken() ? Long.MIN_VALUE : world.clock.nanosAtWall(job.due);
          long possible =
              Math.max(
                  Math.max(world.keys.possibleNanos(job), world.model.awaitedEndNanos(job)),
                  Math.max(job.possibleNanos(), healedNanos));
          long waited = world.clock.nanos() - Math.max(due, possible);
          Violation.check(
              !job.live()
                  || waited <= boundNanos(world)
                  || job.mayWaitInLine()
                  || job.pauseReason != null, // perhaps by a write that was late
              Guarantee.NOT_STUCK,
              () -> job + " is due for " + waited / VirtualClock.SECOND + " s and has not ended");
        }
      }
    }
  }
}
