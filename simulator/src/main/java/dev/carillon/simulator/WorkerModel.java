package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.JobRef;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The jobs that only workers run, as the journals have them, and what is said of each operation of
 * theirs and of each attempt that a worker begins.
 */
final class WorkerModel {
  static final String PREFIX = "wk-";
  private static final String LOST = "worker lost";
  private static final int MOST_LOST = 3;

  private final World world;

  /** Every attempt that a worker was ever given, by its nonce. */
  private final Map<Long, WorkerRunning> given = new LinkedHashMap<>();

  private int live;
  private final List<Runnable> retired = new ArrayList<>();

  WorkerModel(World world) {
    this.world = world;
  }

  @Nullable WorkerRecord find(JobRef ref) {
    ModelShard shard = world.model.shard(ref.shard());
    return shard == null ? null : shard.workerJobs.get(ref.number());
  }

  List<WorkerRecord> all() {
    List<WorkerRecord> all = new ArrayList<>();
    world.model.shards().forEach(shard -> all.addAll(shard.workerJobs.values()));
    return all;
  }

  /** Whether some of them have not ended. */
  boolean anyLive() {
    return live > 0;
  }

  /** How long until one of them is due; 0 where one is. */
  long nanosToNextDue() {
    long next = Long.MAX_VALUE;
    for (WorkerRecord record : all()) {
      if (record.live) {
        next = Math.min(next, world.clock.nanosAtWall(record.due));
      }
    }
    return Math.max(0, next - world.clock.nanos());
  }

  // ---- the journal

  /** Applies an operation; false where it is not about a job of workers. */
  boolean apply(ModelShard shard, JournalFormat.Op operation) {
    if (operation instanceof JournalFormat.Add add) {
      if (!add.spec().type().startsWith(PREFIX)) {
        return false;
      }
      add(shard, add);
      return true;
    }
    WorkerRecord record = shard.workerJobs.get(operation.job());
    if (record == null) {
      return false;
    }
    if (!record.live) {
      world.trace.note("no effect on worker job", record.id);
      return true;
    }
    record.touchedNanos = world.clock.nanos();
    switch (operation) {
      case JournalFormat.Leased leased -> leased(record, leased);
      case JournalFormat.Retry retry -> retry(record, retry);
      case JournalFormat.Again again -> {
        if (record.current(again.attempt(), again.revision())) {
          record.due = again.due();
          leaseOver(record, 0);
        }
      }
      case JournalFormat.Start start ->
          throw new Violation(
              Guarantee.POISON, record + " is suspected of killing a node, on which none ran");
      case JournalFormat.Cancel cancel -> record.cancelled = true;
      case JournalFormat.End end -> {
        if (end.attempt() == 0 || record.current(end.attempt(), end.revision())) {
          end(record, end);
        }
      }
      default -> {}
    }
    check(
        !record.live || shard.wake <= record.due,
        Guarantee.WAKE_TIME,
        () -> record + " is due before its shard wakes");
    return true;
  }

  private void add(ModelShard shard, JournalFormat.Add add) {
    check(
        !shard.workerJobs.containsKey(add.job()),
        Guarantee.UNKNOWN_IS_SAID,
        () -> "the add of " + shard.workerJobs.get(add.job()) + " was written twice");
    long id = ByteBuffer.wrap(add.spec().payload()).getLong();
    boolean keyed = add.spec().more().concurrency() != null;
    WorkerRecord record = new WorkerRecord(shard, add.job(), id, keyed);
    record.due = add.spec().due();
    record.touchedNanos = world.clock.nanos();
    shard.workerJobs.put(add.job(), record);
    shard.live++;
    world.model.entered();
    live++;
    List<Runnable> wake = List.copyOf(retired);
    retired.clear();
    wake.forEach(worker -> world.in(VirtualClock.SECOND, worker));
  }

  /** {@code then} runs when there is something to do again. */
  void whenThereAre(Runnable then) {
    retired.add(then);
  }

  private static void leaseOver(WorkerRecord record, int lost) {
    record.lease = null;
    record.workersLost = lost;
  }

  private void leased(WorkerRecord record, JournalFormat.Leased leased) {
    JournalFormat.Lease lease = leased.lease();
    boolean current = record.current(leased.attempt(), leased.revision());
    world.trace.note("lease", record.id, leased.attempt(), current ? lease.worker() : "stale");
    if (!current) {
      return;
    }
    WorkerRunning other = inTime(record, lease.nonce());
    check(
        lease.length() == 0 || other == null,
        Guarantee.LEASES,
        () -> record + " is leased to " + lease.worker() + " while it runs by " + other);
    if (lease.length() > 0) {
      record.lease = lease;
    } else if (record.lease != null && record.lease.nonce() == lease.nonce()) {
      record.lease = null;
    }
  }

  private void retry(WorkerRecord record, JournalFormat.Retry retry) {
    if (!record.current(retry.attempt(), retry.revision())) {
      return;
    }
    boolean lost = LOST.equals(retry.errorType());
    if (lost) {
      lost(record, retry.attempt());
    }
    record.attempts = retry.attempt();
    record.due = retry.nextTime() + retry.jitter();
    leaseOver(record, lost ? record.workersLost + 1 : 0);
  }

  /** A worker is said to be lost: none that has the attempt may be in time. */
  private void lost(WorkerRecord record, int attempt) {
    world.trace.note("worker lost", record.id, attempt, "");
    WorkerRunning other = inTime(record, 0);
    check(
        other == null,
        Guarantee.LEASES,
        () -> record + " is said to have lost its worker, and runs by " + other);
    boolean accepted = false;
    for (WorkerRunning each : given.values()) {
      accepted |= each.record == record && each.number() == attempt && each.accepted;
    }
    check(
        accepted || record.lease != null,
        Guarantee.LEASES,
        () -> record + ": attempt " + attempt + " counts, which no worker has accepted");
  }

  private void end(WorkerRecord record, JournalFormat.End end) {
    if (end.state() == JobState.SUCCEEDED) {
      long nonce = ByteBuffer.wrap(end.result()).getLong();
      WorkerRunning by = given.get(nonce);
      check(
          by != null
              && by.record == record
              && by.number() == end.attempt()
              && by.said instanceof AttemptOutcome.Succeeded,
          Guarantee.ONE_OUTCOME,
          () -> record + " has ended by the outcome of " + by);
      check(
          record.lease == null || record.lease.nonce() == nonce,
          Guarantee.ONE_OUTCOME,
          () -> record + " has ended by " + by + ", and another has the lease");
      record.endedBy = nonce;
    }
    if (LOST.equals(end.errorType())) {
      lost(record, end.attempt());
      check(
          end.state() != JobState.DEAD
              || record.workersLost + 1 >= MOST_LOST
              || end.reason() == null
              || !end.reason().startsWith("poison"),
          Guarantee.POISON,
          () -> record + " is convicted after it lost " + (record.workersLost + 1) + " workers");
    }
    world.trace.note("worker job ends", record.id, end.state().name());
    record.live = false;
    record.end = end.state();
    leaseOver(record, 0);
    record.shard.live--;
    world.model.left();
    live--;
  }

  /** A compaction carries each lease over, and leaves no live job out. */
  void compare(ModelShard shard, Map<Long, JournalFormat.State> states) {
    for (WorkerRecord record : shard.workerJobs.values()) {
      JournalFormat.State state = states.get(record.number);
      check(
          (state != null) == record.live,
          Guarantee.FOLD,
          () -> record + " is " + (state != null ? "" : "not ") + "live in a snapshot");
      check(
          state == null
              || (state.attempts() == record.attempts
                  && state.due() == record.due
                  && state.workersLost() == record.workersLost
                  && java.util.Objects.equals(state.lease(), record.lease)),
          Guarantee.FOLD,
          () -> record + " is otherwise in the snapshot: " + state);
    }
  }

  // ---- workers

  /** A worker begins to run an attempt that it was given. */
  void begins(WorkerRunning running) {
    WorkerRecord record = running.record;
    check(
        given.put(running.token.nonce(), running) == null,
        Guarantee.BOUNDED_REPEATS,
        () -> running + " is given twice");
    WorkerRunning other = inTime(record, running.token.nonce());
    check(
        other == null,
        Guarantee.LEASES,
        () -> running + " begins while " + other + " is in time by its lease");
    if (record.keyed) {
      for (WorkerRunning each : given.values()) {
        check(
            !each.record.keyed || each.record == record || !isKnownInTime(each, running),
            Guarantee.LIMITS,
            () -> running + " begins beside " + each + ", which has the key");
      }
    }
  }

  /** Whether it is in time and was heard by the owner that now gives another of its key. */
  private static boolean isKnownInTime(WorkerRunning each, WorkerRunning given) {
    return each.isInTime()
        && each.leasedBy == given.givenBy
        && each.record.live
        && each.record.lease != null
        && each.record.lease.nonce() == each.token.nonce()
        && each.record.shard.owner == given.givenBy;
  }

  /** Another attempt of the job that a worker runs in time by its lease; null for none. */
  private @Nullable WorkerRunning inTime(WorkerRecord record, long nonce) {
    for (WorkerRunning each : given.values()) {
      if (each.record == record && each.token.nonce() != nonce && each.isInTime()) {
        return each;
      }
    }
    return null;
  }

  /** A worker hears that its outcome is durable. */
  void settled(WorkerRunning running) {
    WorkerRecord record = running.record;
    boolean durable =
        switch (running.said) {
          case AttemptOutcome.Succeeded done ->
              !record.live
                  && (record.endedBy == running.token.nonce() || record.end == JobState.CANCELLED);
          case AttemptOutcome.Failed failed ->
              !record.live
                  || record.attempts >= running.number()
                  || running.toldToStop
                  || running.givenBy != record.shard.owner; // it may not have heard that yet
          case null, default -> true;
        };
    check(
        durable,
        Guarantee.ACKNOWLEDGED_IS_DURABLE,
        () -> "the outcome of " + running + " is said to be settled, and is in no journal");
  }
}
