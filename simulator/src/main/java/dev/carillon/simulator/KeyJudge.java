package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Rate;
import dev.carillon.api.WhenFull;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.FlowSubject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Says of what happens under concurrency keys whether it may: no more at once than the starting
 * job's limit, in the order of their due times, refused only beside others.
 */
final class KeyJudge {
  /** Jobs due closer to each other than this may go in any order. */
  private static final long ORDER_MICROS = 50_000;

  private final World world;
  private final Map<Name, Key> keys = new LinkedHashMap<>();

  private record Name(String namespace, String key) {}

  /** One key: every job that ever had it, the attempts under it and its rate. */
  private static final class Key {
    final List<ModelJob> jobs = new ArrayList<>();
    final List<Execution> executions = new ArrayList<>();
    final RateWatch rate = new RateWatch();
    long movedNanos;

    /** Where jobs differ, the largest is that of all nodes together. */
    int largestLimit;
  }

  KeyJudge(World world) {
    this.world = world;
  }

  private @Nullable Key key(ModelJob job) {
    Concurrency concurrency = job.spec.more().concurrency();
    return concurrency == null
        ? null
        : keys.computeIfAbsent(
            new Name(job.spec.namespace(), concurrency.key()), name -> new Key());
  }

  private static Concurrency concurrency(ModelJob job) {
    Concurrency concurrency = job.spec.more().concurrency();
    if (concurrency == null) {
      throw new IllegalStateException(job + ": no concurrency key (expected: one)");
    }
    return concurrency;
  }

  /** The job has its spec from now on. */
  void entered(ModelJob job) {
    Key key = key(job);
    if (key != null && !key.jobs.contains(job)) {
      key.jobs.add(job);
      key.largestLimit = Math.max(key.largestLimit, concurrency(job).limit());
    }
  }

  /** Something happened to a job under its key: those that wait may go on. */
  void moved(ModelJob job) {
    Key key = key(job);
    if (key != null) {
      key.movedNanos = world.clock.nanos();
    }
  }

  /** Since when the job can have had its key at the earliest: since something moved there. */
  long possibleNanos(ModelJob job) {
    Key key = key(job);
    if (key == null) {
      return Long.MIN_VALUE;
    }
    Rate rate = concurrency(job).rate();
    long interval = rate == null ? 0 : rate.period().toNanos() / rate.permits();
    return key.movedNanos + interval;
  }

  void clockPutForward() {
    keys.values().forEach(key -> key.rate.forget(world.clock.nanos()));
  }

  /** An older copy of the store was put back: a key has the jobs that it had then. */
  void goBackTo(ModelCopy copy) {
    for (Key key : keys.values()) {
      key.jobs.replaceAll(job -> Objects.requireNonNullElse(copy.find(job), job));
      key.jobs.removeIf(ModelJob::bygone);
      key.movedNanos = world.clock.nanos();
    }
  }

  // ---- starts

  void started(Execution execution) {
    ModelJob job = execution.job;
    Key key = key(job);
    if (key == null) {
      return;
    }
    key.executions.removeIf(other -> !holds(other));
    Concurrency concurrency = concurrency(job);
    check(
        execution.isLent() // it had its key before those that came since, by larger limits
            || count(execution, key, other -> countsHere(execution, other)) < concurrency.limit(),
        Guarantee.LIMITS,
        () -> execution + " is one too many under " + concurrency + " beside " + key.executions);
    check(
        count(execution, key, this::countsElsewhere) < key.largestLimit,
        Guarantee.LIMITS,
        () ->
            execution
                + " is one too many of all nodes under "
                + concurrency
                + " beside "
                + key.executions);
    if (world.climate.nodes == 1) { // the clocks by which several count differ, and jump
      key.rate.rate(concurrency.rate(), 0, 0);
      key.rate.started(execution);
    }
    inOrder(execution, key);
    key.executions.add(execution);
    key.movedNanos = world.clock.nanos();
  }

  /** How many had the key before the attempt was decided. */
  private static long count(Execution execution, Key key, Predicate<Execution> counts) {
    return key.executions.stream()
        .filter(other -> !execution.marked || other.dispatchedNanos < execution.dispatchedNanos)
        .filter(counts)
        .count();
  }

  /**
   * Whether it has its key by the node that starts the other. One that is lent has it until the
   * node that runs it has been dead for as long as its handlers have to stop: a node that stands
   * still does not know.
   */
  private boolean countsHere(Execution execution, Execution other) {
    boolean takenBack =
        other.isLent() && world.members.mayHaveBeenOver(other.incarnation, other.startedNanos);
    return other.owner == execution.owner && !takenBack;
  }

  /**
   * Whether other nodes leave it its key. One that has returned is not told to stop: it has it
   * until its outcome is durable, but not for longer than its node can be known to be there.
   */
  private boolean countsElsewhere(Execution other) {
    boolean over =
        !other.runs() && world.members.mayHaveBeenOver(other.owner, other.dispatchedNanos);
    return !over && !world.members.isToldToStop(other);
  }

  /** Whether an attempt has its key: until its handler has returned and its outcome is durable. */
  private boolean holds(Execution execution) {
    ModelJob job = execution.job;
    if (job.bygone()) {
      return execution.runs();
    }
    if (execution.cutOff || (!execution.runs() && !job.executions.contains(execution))) {
      return false; // its node is gone, or it is of the time before a replay
    }
    boolean written =
        execution.outcome instanceof AttemptOutcome.Succeeded
            || execution.outcome instanceof AttemptOutcome.Failed;
    return execution.runs()
        || (execution.accepted
            && written
            && !execution.attempt.isFenced()
            && world.lives(execution.incarnation)
            && !execution.mayBeRepeated
            && job.live()
            && job.shard.owner == execution.owner
            && job.shard.claimedNanos <= execution.dispatchedNanos
            && job.revision == execution.revision
            && job.anewNanos < execution.dispatchedNanos
            && job.attempts < execution.attempt.number());
  }

  /** Of those that are known to wait in line the first goes first. */
  private void inOrder(Execution execution, Key key) {
    ModelJob job = execution.job;
    if (!isInLine(job, execution.owner)) {
      job.blockedBy = 0;
      return;
    }
    for (ModelJob other : key.jobs) {
      boolean before =
          other.priority > job.priority
              || (other.priority == job.priority && other.due + ORDER_MICROS < job.due);
      check(
          other == job
              || !before
              || !isInLine(other, execution.owner)
              || other.blockedNanos >= job.blockedNanos, // it may have come too late
          Guarantee.LIMITS,
          () -> execution + " overtook " + other + ", which waits for the same key");
    }
    job.blockedBy = 0;
  }

  /** Whether the job is known to wait for its key, and nobody is doing anything about it. */
  private boolean isInLine(ModelJob job, long incarnation) {
    Concurrency concurrency = job.spec.more().concurrency();
    Schedule schedule = job.spec.more().schedule();
    long now = world.clockOf(incarnation).wallMicros(); // the clock may have been put back
    return job.live()
        && job.due <= now
        && (schedule == null || !RecurrenceJudge.tooLate(schedule, job.due, now))
        && concurrency != null
        && concurrency.key().equals(Wishes.LINE_KEY)
        && job.blockedBy == incarnation
        && staysWith(job.shard, incarnation)
        && job.blockedNanos > job.touchedNanos
        && !job.cancelAsked
        && !job.asked.anyOpen() // a request may reach its node long after it was asked
        && job.blockedNanos > job.shard.claimedNanos // else it is about to be read again
        && job.parent == null
        && job.spec.name() == null
        && job.spec.deadline() == 0
        && !job.spec.type().equals(Wishes.LIMITED_TYPE)
        && !paused(FlowSubject.Scope.QUEUE, job.spec.queue(), job.blockedNanos)
        && !paused(FlowSubject.Scope.NAMESPACE, job.spec.namespace(), job.blockedNanos);
  }

  /** Whether the node has the shard and is not about to give it back. */
  private boolean staysWith(ModelShard shard, long incarnation) {
    Life life = world.life(incarnation);
    boolean atHome =
        life != null && !life.stopping && shard.home.equals(world.climate.nodeId(life.nodeIndex));
    return shard.owner == incarnation && (world.climate.nodes == 1 || atHome);
  }

  private boolean paused(FlowSubject.Scope scope, String name, long sinceNanos) {
    return world.flow.perhapsPausedSince(new FlowSubject(scope, name), sinceNanos);
  }

  // ---- refusals

  /** Whether the reason of an end or a skip is that the key was full. */
  static boolean isRefusal(@Nullable String reason) {
    return reason != null && reason.startsWith("concurrency key ");
  }

  /** Whether the reason is that a newer job under the same key is due. */
  static boolean isForNewer(@Nullable String reason) {
    return reason != null && reason.startsWith("a newer job is due; concurrency key ");
  }

  /** The job was refused because its key was full: there must have been others under it. */
  void refused(ModelJob job, WhenFull rule) {
    Key key = key(job);
    check(
        key != null && concurrency(job).whenFull() == rule,
        Guarantee.LIMITS,
        () -> job + " is refused for its key, which its rule does not say");
    if (key == null) {
      return;
    }
    // A handler that goes on after its timeout has it beside its job, also when that is replayed.
    // It may have returned since the job was refused, while that was on its way to the journal.
    long others =
        key.jobs.stream().filter(other -> other != job && wasThere(other, job)).count()
            + key.executions.stream().filter(run -> run.ranSince(job.sinceNanos)).count();
    // Several nodes do not answer at the same moment, and a job may have gone from one to another.
    boolean exact = concurrency(job).key().equals(Wishes.FEW_KEY) && world.climate.nodes == 1;
    int least = exact ? concurrency(job).limit() : 1;
    check(
        others >= least
            || world.climate.lends() // one that is lent has it, and has not started
            || world.copy > 0, // who has the key by the copy may not know it yet
        Guarantee.LIMITS,
        () -> job + " is refused beside " + others + " others under " + concurrency(job));
  }

  /** Whether {@code other} may have had the key since {@code job} was there. */
  private boolean wasThere(ModelJob other, ModelJob job) {
    long due = Math.min(other.due, other.spec.due());
    return other.executions.stream().anyMatch(Execution::runs)
        || isKnownRetriedSince(other, job)
        || (world.climate.nodes > 1 && other.dueReplacedNanos >= job.sinceNanos)
        || ((other.live() || isKnownEndedSince(other, job.sinceNanos, job.shard.owner))
            && world.clock.highestWallSince(Math.min(other.sinceNanos, job.sinceNanos)) >= due);
  }

  /** An attempt that failed holds its key until its node knows that the retry is written. */
  private static boolean isKnownRetriedSince(ModelJob other, ModelJob job) {
    boolean untold = other.retriedNanos > other.retryToldNanos;
    return Math.max(other.retriedNanos, other.retryToldNanos) >= job.sinceNanos
        || (untold && other.retriedBy == job.shard.owner);
  }

  /** A job counts as live until the node that ended it knows of the end: it holds its key, say. */
  static boolean isKnownEndedSince(ModelJob job, long nanos, long incarnation) {
    boolean counts = job.endedBy == incarnation || job.endedBy == job.shard.owner;
    return job.endedNanos >= nanos || (counts && (!job.endTold || job.endToldNanos >= nanos));
  }

  private static boolean cancels(ModelJob job) {
    Concurrency concurrency = job.spec.more().concurrency();
    return job.mayHaveCancelled
        || (concurrency != null && concurrency.whenFull() == WhenFull.CANCEL_RUNNING);
  }

  /** The job is about to be another: what it did under its key may still be on its way. */
  void replacing(ModelJob job) {
    job.mayHaveCancelled = cancels(job);
    // Another node may have counted it, and may act on that only now.
    if (key(job) != null
        && world.clock.highestWallSince(job.sinceNanos) >= Math.min(job.due, job.spec.due())) {
      job.dueReplacedNanos = world.clock.nanos();
    }
  }

  /** Whether a newer job under its key may have cancelled it. */
  boolean cancelledByNewer(ModelJob job, @Nullable String reason) {
    return isForNewer(reason)
        && keys.values().stream()
            .filter(key -> key.jobs.contains(job)) // also before a replace
            .anyMatch(key -> key.jobs.stream().anyMatch(other -> other != job && cancels(other)));
  }
}
