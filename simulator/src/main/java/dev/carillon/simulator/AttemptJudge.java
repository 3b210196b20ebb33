package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.FlowSubject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Says of each attempt whether it may start now, beside these others and again, and of each outcome
 * whether it may count.
 */
final class AttemptJudge {
  private static final int MOST_KILLS = 4;
  private static final long LATEST_START_NANOS = 2 * VirtualClock.SECOND;

  /** How much farther ahead a clock may be that went forward since it was last compared. */
  private static final long UNSEEN_JUMP_MICROS = 11_000_000;

  /** So long a node may have a key that it does not use, or not know that another waits for it. */
  private static final long KEY_NANOS = 10 * VirtualClock.SECOND;

  /** By then a node has seen that the store's clock jumped as well, and another way. */
  private static final long COMPARED_NANOS = 10 * VirtualClock.SECOND;

  private final World world;
  private final Ledger ledger;

  /** How often the node was told to stop. */
  private int stops;

  private final Map<FlowSubject, RateWatch> rates = new LinkedHashMap<>();
  private final RateMemory keyRates;

  /** Whether the wall clock was put forward in the life that runs or since the last ended. */
  private boolean putForward;

  AttemptJudge(World world, Ledger ledger) {
    this.world = world;
    this.ledger = ledger;
    this.keyRates = new RateMemory(world.clock);
  }

  void started(Execution execution, List<Execution> running) {
    ModelJob job = execution.job;
    if (job.bygone()) {
      return; // its node has not noticed that the store went back: whatever it does is refused
    }
    if (world.members.mayNotKnow(job.shard, execution.owner) || isOfNobody(execution)) {
      execution.unaware = true;
      return; // whatever it does is refused
    }
    if (execution.isLent()) {
      if (isCurrent(execution)) {
        startedElsewhere(execution, running);
      } else {
        execution.unaware = true;
      }
      return;
    }
    check(
        job.end != JobState.CANCELLED,
        Guarantee.CANCEL,
        () -> execution + " started after its cancel");
    check(job.live(), Guarantee.ONE_OUTCOME, () -> execution + " started after the job's end");
    check(
        execution.request.told != Request.Told.REFUSED,
        Guarantee.UNKNOWN_IS_SAID,
        () -> execution + " started, though it was refused");
    check(
        job.shard.owner == execution.owner,
        Guarantee.ONE_WRITER,
        () -> execution + " started in a shard of another owner");
    check(
        isCurrent(execution),
        Guarantee.ONE_OUTCOME,
        () -> execution + " started, but the journal has gone on to another");
    check(
        execution.clock.wallMicros() >= job.due
            && Micros.ceil(execution.attempt.scheduledTime()) == job.due - job.jitter,
        Guarantee.NEVER_EARLY,
        () -> execution + " started " + (job.due - execution.clock.wallMicros()) + " µs early");
    check(
        !job.cancelAnswered,
        Guarantee.CANCEL,
        () -> execution + " started after it was told to stop");
    check(
        !job.pauseAnswered,
        Guarantee.CONTROL,
        () -> execution + " started though its job is paused");
    check(
        !job.dependent() && !job.broken(),
        Guarantee.DEPENDENCIES,
        () -> execution + " started, but of what it waits for not all has ended as it must");
    occurrence(execution, running);
    inTime(execution);
    seesWhatWasSaved(execution);
    onTime(execution);
    trusted(execution);
    keyRates.started(execution);
    repeats(execution, running);
    alone(execution, running);
    limits(execution, running);
  }

  private static void inTime(Execution execution) {
    long deadline = execution.job.spec.deadline();
    check(
        deadline == 0 || execution.clock.wallMicros() < deadline,
        Guarantee.DEADLINE,
        () -> execution + " started after its deadline");
  }

  private static void seesWhatWasSaved(Execution execution) {
    check(
        Arrays.equals(execution.attempt.saved(), execution.job.saved),
        Guarantee.ACKNOWLEDGED_IS_DURABLE,
        () -> execution + " does not see what was saved last");
  }

  /** Whether it was lent by a node that is gone since then, which its own need not have seen. */
  private boolean isOfNobody(Execution execution) {
    Life owner = world.life(execution.owner);
    return execution.isLent()
        && (owner == null
            || !owner.alive()
            || (owner.stopping && execution.job.shard.owner != execution.owner));
  }

  /** Whether the journal has not gone on to another. */
  private static boolean isCurrent(Execution execution) {
    ModelJob job = execution.job;
    return job.isDeclaredBy(execution.request.id) && execution.attempt.number() == job.attempts + 1;
  }

  /**
   * An attempt was lent and starts on another node. What its owner has heard since it lent it may
   * cross with the start, and does not count.
   */
  private void startedElsewhere(Execution execution, List<Execution> running) {
    ModelJob job = execution.job;
    check(
        job.shard.owner == execution.owner,
        Guarantee.ONE_WRITER,
        () -> execution + " started for a node that does not have its shard");
    check(
        execution.attempt.isDue(execution.clock.wallMicros()),
        Guarantee.NEVER_EARLY,
        () -> execution + " started early on another node");
    inTime(execution);
    seesWhatWasSaved(execution);
    trusted(execution);
    keyRates.started(execution);
    repeats(execution, running);
    alone(execution, running);
    limits(execution, running);
  }

  /**
   * The handler of an attempt is called, some time after the engine decided that. Nobody else may
   * have the job by then, nor be about to take it.
   */
  void called(Execution execution) {
    check(
        execution.interrupted
            || execution.job.bygone()
            || execution.unaware
            || execution.job.shard.owner == execution.owner
            || world.members.mayNotKnow(execution.job.shard, execution.owner)
            || isOfNobody(execution),
        Guarantee.MEMBERS,
        () -> execution + " is called though another node has its shard");
    world.members.called(execution);
  }

  /** It is the occurrence that its schedule says, beside none that it may not be beside. */
  private void occurrence(Execution execution, List<Execution> running) {
    ModelJob job = execution.job;
    Attempt attempt = execution.attempt;
    JournalFormat.Move move = job.move;
    check(
        attempt.occurrence() == (move == null ? 0 : move.count() + 1),
        Guarantee.RECURRENCES,
        () -> execution + " is told that it is occurrence " + attempt.occurrence());
    if (move != null) {
      // It may have been granted before its job was declared again.
      List<Schedule> schedules = job.schedulesOfOccurrence();
      check(
          !schedules.stream().allMatch(RecurrenceJudge::spawns)
              && RecurrenceJudge.instant(move.time()).equals(attempt.occurrenceTime()),
          Guarantee.RECURRENCES,
          () -> execution + " is told of another time than its schedule has");
      check(
          attempt.number() > 1
              || !schedules.stream()
                  .allMatch(s -> RecurrenceJudge.tooLate(s, job.due, execution.clock.wallMicros())),
          Guarantee.RECURRENCES,
          () -> execution + " starts later than its grace");
    }
    if (job.overlap() == Overlap.BUFFER_ALL) {
      List<ModelJob> before = job.liveBefore();
      check(
          before.isEmpty(),
          Guarantee.RECURRENCES,
          () -> execution + " started before the end of " + before);
      for (Execution other : running) {
        check(
            other.job.parent != job.parent
                || other.interrupted
                || other.job.overlap() != Overlap.BUFFER_ALL,
            Guarantee.RECURRENCES,
            () -> execution + " started beside " + other);
      }
    } else if (job.overlap() == Overlap.CANCEL_RUNNING && job.parent != null && job.replays == 0) {
      for (ModelJob other : job.parent.occurrences) {
        check(
            other.number <= job.number
                || other.overlap() != Overlap.CANCEL_RUNNING
                || other.executions.isEmpty(),
            Guarantee.RECURRENCES,
            () -> execution + " started after the newer " + other);
      }
    }
  }

  /** Nothing starts by a clock that is farther from the store's than it may be. */
  private void trusted(Execution execution) {
    if (world.climate.nodes > 1) {
      // When the node decided it; the clocks may have jumped on the way to the handler.
      long started = execution.attempt.startedMicros();
      long decidedNanos = execution.clock.nanosWhenWallWas(started);
      long ahead = started - world.clock.store().highestWallSince(decidedNanos);
      check(
          ahead <= Micros.ceil(Membership.CLOCK_LIMIT) + UNSEEN_JUMP_MICROS
              || world.clock.nanos() - world.clock.jumpedNanos() < COMPARED_NANOS,
          Guarantee.CLOCK,
          () -> execution + " started by a clock that is " + ahead + " µs ahead of the store's");
    }
  }

  /** Once everything is healthy a due job starts at once, or as soon as a slot is free. */
  private void onTime(Execution execution) {
    if (world.healthy()) {
      long due = execution.clock.nanosAtWall(execution.job.due);
      long possible =
          Math.max(
              world.keys.possibleNanos(execution.job),
              Math.max(execution.job.possibleNanos(), world.healthyFromNanos()));
      if (world.climate.nodes > 1) {
        possible =
            Math.max(possible, execution.job.shard.claimedNanos); // how late that may be: Patience
      }
      long late = world.clock.nanos() - Math.max(due, possible) - keyRates.waitNanos(execution);
      check(
          late <= LATEST_START_NANOS + shareNanos(execution),
          Guarantee.NOT_STUCK,
          () -> execution + " started " + late / VirtualClock.MILLI + " ms late");
    }
  }

  /** How long a node may wait for its share of a limit that all have together. */
  private long shareNanos(Execution execution) {
    Together together = world.climate.together;
    Request.Wish wish = execution.request.wish;
    boolean limited =
        world.flow.perhapsLimited(queue(wish)) || world.flow.perhapsLimited(namespace(wish));
    if (together == null) {
      return 0;
    }
    if (limited) {
      return Patience.boundNanos(world);
    }
    // One who left it behind long ago is watched for a timeout like any other.
    return execution.job.spec.more().concurrency() != null ? KEY_NANOS + together.timeoutNanos : 0;
  }

  private void repeats(Execution execution, List<Execution> running) {
    ModelJob job = execution.job;
    takenBack(execution);
    check(
        ++job.starts <= job.startsAllowed,
        Guarantee.BOUNDED_REPEATS,
        () -> execution + " is start " + job.starts + ", accounted for are " + job.startsAllowed);
    for (Execution other : running) {
      check(
          other.job != job || other.interrupted,
          Guarantee.BOUNDED_REPEATS,
          () -> execution + " started while another of it runs");
    }
    for (Execution other : job.executions) {
      check(
          other.incarnation == execution.incarnation
              || !other.runs()
              || world.members.isToldToStop(other),
          Guarantee.MEMBERS,
          () -> execution + " started while another node runs it and was not told to stop");
    }
  }

  /**
   * An attempt that was lent is made again where the node that ran it seemed dead, or its own may
   * have when it failed.
   */
  private void takenBack(Execution execution) {
    for (Execution other : execution.job.executions) {
      if (other.isLent()
          && !other.mayBeRepeated
          && !other.unaware
          && other.revision == execution.revision
          && other.attempt.number() == execution.attempt.number()
          && (world.members.mayHaveSeemedDead(other.incarnation, other.startedNanos)
              || (other.outcome instanceof AttemptOutcome.Failed
                  && other.startedNanos < world.healthyFromNanos()))) {
        other.mayBeRepeated = true;
        execution.job.startsAllowed++;
      }
    }
  }

  private void alone(Execution execution, List<Execution> running) {
    long time = execution.clock.leastVirtualNanos(world.climate.options().aloneTime().toNanos());
    for (Execution other : running) {
      check(
          !isAlone(execution) || world.clock.nanos() - other.startedNanos >= time,
          Guarantee.POISON,
          () -> execution + " started alone beside " + other);
      check(
          !isAlone(other) || world.clock.nanos() - other.startedNanos >= time,
          Guarantee.POISON,
          () -> execution + " started beside " + other + ", which runs alone");
    }
  }

  private static boolean isAlone(Execution execution) {
    ModelJob job = execution.job;
    return job.alone
        && job.live()
        && job.markerIncarnation == execution.incarnation
        && job.revision == execution.revision
        && job.attempts + 1 == execution.attempt.number();
  }

  private void limits(Execution execution, List<Execution> running) {
    Request.Wish wish = execution.request.wish;
    Climate climate = world.climate;
    check(
        running.size() < climate.options().slots(),
        Guarantee.LIMITS,
        () -> running.size() + 1 + " attempts at once");
    check(
        !wish.type().equals(Wishes.LIMITED_TYPE)
            || count(running, other -> other.type().equals(wish.type())) < climate.typeLimit,
        Guarantee.LIMITS,
        () -> execution + " is one too many of its type");
    List<Execution> everywhere = everywhere(execution, running);
    check(
        count(everywhere, other -> other.queue().equals(wish.queue()))
            < limit(execution, queue(wish)),
        Guarantee.LIMITS,
        () -> execution + " is one too many of its queue");
    check(
        count(everywhere, other -> other.namespace().equals(wish.namespace()))
            < limit(execution, namespace(wish)),
        Guarantee.LIMITS,
        () -> execution + " is one too many of its namespace");
    world.keys.started(execution);
    for (FlowSubject subject : List.of(queue(wish), namespace(wish))) {
      check(
          !world.flow.surelyPaused(subject),
          Guarantee.CONTROL,
          () -> execution + " started though " + subject + " is paused");
      RateWatch watch = rates.computeIfAbsent(subject, s -> new RateWatch());
      watch.rate(world.flow.rate(subject), world.flow.rates(subject), world.clock.nanos());
      if (world.climate.nodes == 1) { // the clocks by which several count differ, and jump
        watch.started(execution);
      }
    }
  }

  /** What runs beside it here and, unless it was told to stop, on other nodes. */
  private List<Execution> everywhere(Execution execution, List<Execution> here) {
    if (world.climate.nodes == 1) {
      return here;
    }
    List<Execution> all = new ArrayList<>(here);
    for (Life life : world.living()) {
      if (life.incarnation != execution.incarnation) {
        life.handlers.all().stream()
            .filter(other -> !world.members.isToldToStop(other))
            .forEach(all::add);
      }
    }
    return all;
  }

  private static FlowSubject queue(Request.Wish wish) {
    return new FlowSubject(FlowSubject.Scope.QUEUE, wish.queue());
  }

  private static FlowSubject namespace(Request.Wish wish) {
    return new FlowSubject(FlowSubject.Scope.NAMESPACE, wish.namespace());
  }

  /** The limit when the engine decided; a lower one since then counts for those that follow. */
  private int limit(Execution execution, FlowSubject subject) {
    return !execution.dispatchKnown || execution.dispatchedNanos < world.flow.answeredNanos(subject)
        ? Integer.MAX_VALUE
        : world.flow.limit(subject);
  }

  /** A node starts: what it reads of rates it takes by the wall clock. */
  void begins() {
    if (putForward) {
      forgetRates();
      putForward = false;
    }
  }

  /** The wall clock was put forward: a rate that is read again may give a burst. */
  void clockPutForward() {
    putForward = true;
    forgetRates();
  }

  private void forgetRates() {
    rates.values().forEach(watch -> watch.forget(world.clock.nanos()));
    world.keys.clockPutForward();
  }

  private static int count(List<Execution> running, Predicate<Request.Wish> alike) {
    int count = 0;
    for (Execution other : running) {
      count += alike.test(other.request.wish) ? 1 : 0;
    }
    return count;
  }

  void finished(Execution execution) {
    ModelJob job = execution.job;
    world.keys.moved(job);
    if (job.bygone()) {
      return;
    }
    if (execution.accepted
        && execution.revision == job.revision
        && (execution.outcome instanceof AttemptOutcome.Interrupted
            || execution.outcome instanceof AttemptOutcome.TooLate
            || (execution.outcome instanceof AttemptOutcome.Failed && execution.attempt.isFenced())
            || execution.outcome instanceof AttemptOutcome.Undecodable)) {
      job.startsAllowed++;
    }
    boolean counts =
        execution.accepted && !execution.isLent() && job.shard.owner == execution.owner;
    check(
        !counts || job.live() || !job.endTold,
        Guarantee.ONE_OUTCOME,
        () -> execution + " was accepted after the job's end");
  }

  void saveAcknowledged(Execution execution, byte[] state) {
    ModelJob job = execution.job;
    boolean last = !job.executions.isEmpty() && job.executions.getLast() == execution;
    check(
        !last // the answer took long, and a later attempt may have saved something else
            || job.bygone()
            || job.revision != execution.revision
            || job.anewNanos >= execution.dispatchedNanos
            || !job.live()
            || Arrays.equals(job.saved, state),
        Guarantee.ACKNOWLEDGED_IS_DURABLE,
        () -> "what " + execution + " saved is not in the journal");
  }

  void killed(Execution execution) {
    int kills = ledger.killed(execution.request);
    check(
        kills
            <= MOST_KILLS * (1 + execution.job.replays + world.copy)
                + execution.job.moves
                + world.clock.jumpsBack()
                + stops,
        Guarantee.POISON,
        () -> execution + " has killed its node " + kills + " times");
  }

  /** The node begins to stop in order: shards it releases are not suspect. */
  void stopping() {
    stops++;
  }

  /** The node's life is over, in order or not: its attempts are cut off. */
  void lifeEnded(long incarnationOfLife, boolean crash) {
    for (ModelShard shard : world.model.shards()) {
      if (shard.owner == incarnationOfLife) {
        shard.freeNanos = world.clock.nanos();
      }
      for (ModelJob job : shard.jobs.values()) {
        if (job.live()) {
          // A shard that could not be given back is found as after a crash.
          cutOff(job, incarnationOfLife, crash || shard.owner == incarnationOfLife);
        }
      }
    }
  }

  /** A job's attempts by that life do not count any more. */
  static void cutOff(ModelJob job, long incarnationOfLife, boolean crash) {
    for (Execution execution : job.executions.reversed()) {
      if (execution.incarnation != incarnationOfLife && execution.owner != incarnationOfLife) {
        break;
      }
      if (execution.revision == job.revision && execution.attempt.number() > job.attempts) {
        job.startsAllowed += execution.mayBeRepeated ? 0 : 1;
        execution.mayBeRepeated = true;
        break;
      }
    }
    if (crash && job.alone && job.markerIncarnation == incarnationOfLife) {
      job.crashedAlone = true;
    }
  }
}
