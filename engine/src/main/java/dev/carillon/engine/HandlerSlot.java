package dev.carillon.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the node knows of one job type: whether its handler is here, its limit, and who waits. */
final class HandlerSlot {
  private static final int FIRST_SWEEP = 1024;

  final String type;
  final Gate gate = new Gate(Gate.OPEN);
  boolean registered;
  private int sweepAt = FIRST_SWEEP;

  /** Due jobs without a handler, or whose payload this handler could not decode. */
  private final List<ShardJob> blocked = new ArrayList<>();

  /** Due jobs that wait for the gate, in the order in which the lanes offered them. */
  private final ArrayDeque<ShardJob> limited = new ArrayDeque<>();

  HandlerSlot(String type) {
    this.type = type;
  }

  void block(ShardJob job, ShardJob.Phase why) {
    job.phase = why;
    blocked.add(job);
    if (blocked.size() >= sweepAt) {
      blocked.removeIf(each -> !isBlocked(each));
      sweepAt = Math.max(FIRST_SWEEP, 2 * blocked.size());
    }
  }

  private static boolean isBlocked(ShardJob job) {
    return job.phase == ShardJob.Phase.NO_HANDLER || job.phase == ShardJob.Phase.UNDECODABLE;
  }

  void limit(ShardJob job) {
    job.phase = ShardJob.Phase.LIMITED;
    limited.add(job);
  }

  /** The jobs that wait for a handler, which wait no longer. */
  List<ShardJob> takeBlocked() {
    List<ShardJob> taken = new ArrayList<>();
    for (ShardJob job : blocked) {
      if (isBlocked(job)) {
        taken.add(job);
      }
    }
    blocked.clear();
    return taken;
  }

  /** The next job that waits for the gate, if there is room and one waits; else null. */
  @Nullable ShardJob takeLimited() {
    while (gate.hasRoom()) {
      ShardJob job = limited.poll();
      if (job == null || job.phase == ShardJob.Phase.LIMITED) {
        return job;
      }
    }
    return null;
  }
}
