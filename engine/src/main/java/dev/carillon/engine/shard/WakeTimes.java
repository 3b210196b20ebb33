package dev.carillon.engine.shard;

import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.fold.Awaited;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.job.JobSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Changes the wake times of shards: the durable timers by which a sleeping shard is found.
 *
 * <p><b>Invariant</b>: a job in a shard's journal is due no earlier than the shard's wake time, at
 * any crash. So a wake time is lowered before a job that is due earlier is written, and raised only
 * by an entry behind which nothing is queued.
 */
final class WakeTimes {
  private final Shards shards;
  private final Committer committer;
  private final Map<Shard, List<Runnable>> whenFree = new LinkedHashMap<>();

  WakeTimes(Shards shards, Committer committer) {
    this.shards = shards;
    this.committer = committer;
  }

  /**
   * Runs {@code then} once the shard's wake time is at or before {@code dueMicros}, or the shard is
   * lost: it looks.
   */
  void ensureAwakeBy(Shard shard, long dueMicros, Runnable then) {
    if (shard.owned() && shard.journal.isRaisingWake()) {
      // A call that lowers it now might take effect before the entry that raises it.
      whenFree(shard, () -> ensureAwakeBy(shard, dueMicros, then));
      return;
    }
    shard.journal.keepWake();
    if (!shard.owned() || shard.journal.wakeMicros() <= dueMicros) {
      then.run();
      return;
    }
    if (shard.journal.isRewriting()) {
      whenFree(shard, () -> ensureAwakeBy(shard, dueMicros, then)); // it publishes a wake time too
      return;
    }
    shard.hold();
    shards.write(
        shard,
        store -> store.journals().lowerWake(shard.id, shard.journal.epoch(), Shards.ALWAYS_AWAKE),
        head -> {
          shard.unhold();
          shard.journal.wakeLowered(head.wakeMicros());
          then.run();
        },
        then);
  }

  /**
   * Runs {@code action} as soon as nothing is under way that changes the shard's wake time or its
   * generation, or the shard is lost: it looks. The shard stays as it is until then.
   */
  void whenFree(Shard shard, Runnable action) {
    if (isFree(shard)) {
      action.run();
    } else {
      shard.hold();
      whenFree.computeIfAbsent(shard, s -> new ArrayList<>()).add(action);
    }
  }

  private static boolean isFree(Shard shard) {
    return !shard.owned() || (!shard.journal.isRaisingWake() && !shard.journal.isRewriting());
  }

  /** Runs the actions whose shard is free by now. */
  void turn() {
    if (whenFree.isEmpty()) {
      return;
    }
    for (Shard shard : List.copyOf(whenFree.keySet())) {
      List<Runnable> waiting = isFree(shard) ? whenFree.remove(shard) : null;
      if (waiting != null) {
        waiting.forEach(action -> shard.unhold());
        waiting.forEach(Runnable::run);
      }
    }
  }

  /** Keeps a shard awake that owes news of ended jobs: clocks may have gone back. */
  void wakeIfOwing(Shard shard, long now) {
    ShardFold<NodeJob> fold = shard.fold;
    if (shard.owned() && fold != null && !fold.debts().isEmpty()) {
      ensureAwakeBy(shard, now, () -> {});
    }
  }

  /**
   * Lets a shard sleep until its next job, or an open one until its slice, if that is far; a spare
   * one whose slice has come until that is over at the most, for then it is sealed.
   */
  void sleepUntilNext(Shard shard, long now) {
    ShardFold<NodeJob> fold = shard.fold;
    long soon = now + 2 * shards.horizonMicros();
    long slice = shard.sealed ? Long.MAX_VALUE : shard.bucket.startMicros();
    if (slice <= soon && shards.open.isSpare(shard)) {
      slice = shard.bucket.endMicros();
    }
    boolean drained = shard.sealed && fold != null && fold.live().size() == 0;
    if (fold == null
        || drained
        || !fold.debts().isEmpty()
        || !shard.quiet()
        || shard.journal.wakeMicros() == slice
        || slice <= soon) {
      return;
    }
    long history = shards.retention.dueMicros(shard, fold);
    if (history > soon && !fold.live().any(job -> sleepsUntil(job) <= soon)) {
      long[] next = {Math.min(slice, history)};
      fold.live().forEach(job -> next[0] = Math.min(next[0], sleepsUntil(job)));
      committer.raiseWake(shard.journal, next[0]);
    }
  }

  private static long sleepsUntil(NodeJob job) {
    Awaited awaited = job.awaited();
    if (awaited != null && (!awaited.isArranged() || awaited.broken() != null)) {
      return Long.MIN_VALUE; // one that can never start is about to be ended
    }
    if (job.isTerminated()) {
      return Long.MIN_VALUE; // it ends as soon as nothing of it is on its way to the journal
    }
    WorkflowState workflow = job.workflow();
    if (workflow != null && !workflow.notArranged().isEmpty()) {
      return Long.MIN_VALUE; // a job that it waits for does not know of it yet
    }
    if (job.concurrency() != null && (job.isWaiting() || (job.hasBegun() && job.isPaused()))) {
      return Long.MIN_VALUE; // it keeps its key, in the memory of this node
    }
    if (job.isIdle(NodeJob.Phase.SCHEDULED)) {
      return job.dueMicros;
    }
    if (job.isIdle(NodeJob.Phase.PAUSED) && !job.isStripped()) {
      return job.has(JobSpec.DEADLINE) ? job.head().deadlineMicros() : Long.MAX_VALUE;
    }
    if (job.isIdle(NodeJob.Phase.DEPENDENCY) && !job.isStripped() && awaited != null) {
      return job.has(JobSpec.DEADLINE) ? job.head().deadlineMicros() : Long.MAX_VALUE;
    }
    return Long.MIN_VALUE;
  }
}
