package dev.carillon.simulator;

import dev.carillon.engine.environment.Membership;
import java.time.Duration;
import java.util.List;

/** What a seed with several nodes is like beyond what one node has: their settings and faults. */
final class Together {
  private static final List<Long> HEARTBEATS_MILLIS = List.of(500L, 1_000L, 2_000L);
  private static final int HEARTBEATS_A_TIMEOUT = 5;

  /** How often a node says that it is there. */
  final long heartbeatNanos;

  /** How long after its last heartbeat it is dead to the others. */
  final long timeoutNanos;

  /** How long after it the others wait for it to come back. */
  final long forgetNanos;

  /** Whether nodes run attempts for each other. */
  final boolean lends;

  /** How often a node is cut off from the store. */
  final int cuts;

  /** How often a node stands still. */
  final int pauses;

  /** How often all nodes are stopped and started again, one after the other. */
  final int rollingRestarts;

  /** How often the clock of one node jumps. */
  final int jumps;

  /** How often an older copy of the data is put back. */
  final int restores;

  /** How old that is. */
  final long backupNanos;

  Together(Chance chance, long spanNanos, boolean lends) {
    this.lends = lends;
    heartbeatNanos = chance.pick(HEARTBEATS_MILLIS) * VirtualClock.MILLI;
    timeoutNanos = HEARTBEATS_A_TIMEOUT * heartbeatNanos;
    forgetNanos = Math.max(2 * timeoutNanos, chance.spread(spanNanos / 4, 20 * spanNanos));
    cuts = (int) chance.between(0, 5);
    pauses = (int) chance.between(0, 5);
    rollingRestarts = chance.oneIn(4) ? 1 : 0;
    jumps = (int) chance.between(0, 4);
    restores = chance.oneIn(6) ? 1 : 0;
    backupNanos = restores == 0 ? 0 : chance.spread(VirtualClock.MILLI, spanNanos / 2);
  }

  Membership membership() {
    Membership membership =
        new Membership(
            Duration.ofNanos(heartbeatNanos),
            Duration.ofNanos(timeoutNanos),
            Duration.ofNanos(forgetNanos),
            true);
    return lends ? membership : membership.withoutLending();
  }

  /** How long a pause or a cut lasts: shorter than the timeout, or several times as long. */
  long faultNanos(Chance chance) {
    return chance.spread(timeoutNanos / 16, 4 * timeoutNanos);
  }
}
