package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.simulator.UserOperations.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Says of each step of a recurring job whether its schedule allows it: which time takes place, as
 * what, and which is next. Written from the documents of overlap and misfire; the times themselves
 * are asked of the {@link Schedule}.
 */
final class RecurrenceJudge {
  private static final long MISSED_AFTER_MICROS = 1_000_000;
  private static final int MOST_LIVE = 1000;
  private static final Duration GRACE_OF_SKIP = Duration.ofMinutes(1);

  private RecurrenceJudge() {}

  static Schedule scheduleOf(ModelJob job) {
    Schedule schedule = job.spec.more().schedule();
    if (schedule == null) {
      throw new Violation(Guarantee.RECURRENCES, job + " is not recurring and moves on");
    }
    return schedule;
  }

  private static JournalFormat.Move moveOf(ModelJob job) {
    JournalFormat.Move move = job.move;
    if (move == null) {
      throw new Violation(Guarantee.RECURRENCES, job + " is not recurring and moves on");
    }
    return move;
  }

  /** Whether occurrences are jobs of their own. */
  static boolean spawns(Schedule schedule) {
    return schedule.kind() != Schedule.Kind.AFTER_EACH
        && schedule.overlap() != Overlap.SKIP
        && schedule.overlap() != Overlap.BUFFER_ONE;
  }

  /** Whether an occurrence may no longer take place. */
  static boolean tooLate(Schedule schedule, long due, long now) {
    Duration grace = grace(schedule);
    return grace != null && now - due > micros(grace);
  }

  private static @Nullable Duration grace(Schedule schedule) {
    Duration grace = schedule.grace();
    return grace == null && schedule.misfire() instanceof Misfire.Skip ? GRACE_OF_SKIP : grace;
  }

  /** The occurrence may have been under way when the job was declared again. */
  static void moves(ModelJob job, JournalFormat.Next next) {
    Violation first = null;
    for (Schedule schedule : job.schedulesOfOccurrence()) {
      try {
        moves(job, schedule, next);
        return;
      } catch (Violation e) {
        first = first == null ? e : first;
      }
    }
    throw Objects.requireNonNull(first);
  }

  private static void moves(ModelJob job, Schedule schedule, JournalFormat.Next next) {
    JournalFormat.Move move = moveOf(job);
    if (next.attempt() != 0) {
      ran(job, schedule, move, next);
    } else if (next.children().isEmpty()) {
      passedOver(job, schedule, move, next); // also by what was on its way when it was paused
    } else {
      spawned(job, schedule, move, next);
    }
  }

  private static void ran(
      ModelJob job, Schedule schedule, JournalFormat.Move move, JournalFormat.Next next) {
    check(
        !job.schedulesOfOccurrence().stream().allMatch(RecurrenceJudge::spawns),
        Guarantee.RECURRENCES,
        () -> job + " ran an occurrence itself that was to be a job of its own");
    boolean dead = next.outcome() == JobState.DEAD;
    check(
        next.children().size() == (dead ? 1 : 0),
        Guarantee.RECURRENCES,
        () ->
            job + ": an occurrence ended as " + next.outcome() + " and became " + next.children());
    if (dead) {
      isOccurrence(job, move, next.children().getFirst(), Overlap.ALLOW);
    }
    boolean late = next.startedAt() - job.time() > MISSED_AFTER_MICROS;
    long passed = next.at();
    if (schedule.overlap() == Overlap.BUFFER_ONE) {
      // One of those that came meanwhile waits; if this one was late it stands for those missed.
      passed = late ? next.startedAt() : move.time();
    }
    follows(
        job,
        schedule,
        next,
        after(schedule, move, late ? next.startedAt() : null, passed, next.at()));
  }

  private static void spawned(
      ModelJob job, Schedule schedule, JournalFormat.Move move, JournalFormat.Next next) {
    check(
        job.pauseReason == null,
        Guarantee.CONTROL,
        () -> job + " is paused and has an occurrence all the same");
    check(
        spawns(schedule) && next.children().size() == 1 && next.outcome() == null,
        Guarantee.RECURRENCES,
        () -> job + ": its occurrences became " + next.children());
    isOccurrence(job, move, next.children().getFirst(), schedule.overlap());
    check(
        next.at() >= job.due,
        Guarantee.NEVER_EARLY,
        () -> "an occurrence of " + job + " came " + (job.due - next.at()) + " µs early");
    check(
        !tooLate(schedule, job.due, next.at()),
        Guarantee.RECURRENCES,
        () -> "an occurrence of " + job + " takes place later than its grace");
    boolean late = next.at() - job.time() > MISSED_AFTER_MICROS;
    boolean standsForAll = late && !(schedule.misfire() instanceof Misfire.Skip);
    long passed = standsForAll ? next.at() : move.time();
    follows(job, schedule, next, after(schedule, move, late ? next.at() : null, passed, next.at()));
  }

  private static void isOccurrence(
      ModelJob job, JournalFormat.Move move, JournalFormat.Child child, Overlap overlap) {
    JournalFormat.Occurrence expected =
        new JournalFormat.Occurrence(job.number, move.count() + 1, move.time(), overlap);
    check(
        child.occurrence().equals(expected) && child.due() == job.due,
        Guarantee.RECURRENCES,
        () -> job + " has " + child + " as an occurrence, expected " + expected);
  }

  private static void passedOver(
      ModelJob job, Schedule schedule, JournalFormat.Move move, JournalFormat.Next next) {
    boolean crowded =
        job.occurrences.stream().filter(other -> mayCount(other, job)).count() >= MOST_LIVE
            && (MOST_LIVE + " have not ended").equals(next.reason());
    if (crowded || KeyJudge.isRefusal(next.reason()) || KeyJudge.isForNewer(next.reason())) {
      Instant time = schedule.nextAfter(instant(move.time()), instant(next.at()));
      follows(job, schedule, next, of(time, move.count(), Long.MIN_VALUE, 0));
      return;
    }
    Duration grace = grace(schedule);
    check(
        grace != null && tooLate(schedule, job.due, next.at()),
        Guarantee.RECURRENCES,
        () -> "an occurrence of " + job + " was passed over and was not too late");
    long oldest = next.at() - (grace == null ? 0 : micros(grace));
    Instant time = schedule.nextAfter(instant(move.time()), instant(oldest - 1));
    follows(job, schedule, next, of(time, move.count(), move.missedUntil(), move.madeUp()));
  }

  /** The node may have passed over the occurrence before it knew that another had ended. */
  private static boolean mayCount(ModelJob occurrence, ModelJob job) {
    return occurrence.live()
        || KeyJudge.isKnownEndedSince(occurrence, job.sinceNanos, job.shard.owner);
  }

  /**
   * Where the schedule goes after an occurrence that took place.
   *
   * @param missedUntil when it started, where that was so late that others were missed
   * @param passed until when times are passed over
   * @param ended when the occurrence ended
   */
  private static JournalFormat.@Nullable Move after(
      Schedule schedule,
      JournalFormat.Move move,
      @Nullable Long missedUntil,
      long passed,
      long ended) {
    long count = move.count() + 1;
    Long times = schedule.times();
    if (times != null && count >= times) {
      return null;
    }
    if (schedule.kind() == Schedule.Kind.AFTER_EACH) {
      return of(schedule.next(instant(ended)), count, Long.MIN_VALUE, 0);
    }
    if (schedule.misfire() instanceof Misfire.RunAll(int cap)) {
      long until =
          missedUntil == null ? move.missedUntil() : Math.max(missedUntil, move.missedUntil());
      Instant missed = schedule.next(instant(move.time()));
      if (missed != null && micros(missed) <= until && move.madeUp() < cap - 1) {
        return of(missed, count, until, move.madeUp() + 1);
      }
    }
    Instant time = schedule.nextAfter(instant(move.time()), instant(passed));
    return of(time, count, Long.MIN_VALUE, 0);
  }

  private static JournalFormat.@Nullable Move of(
      @Nullable Instant time, long count, long missedUntil, int madeUp) {
    return time == null
        ? null
        : new JournalFormat.Move(micros(time), 0, count, missedUntil, madeUp);
  }

  private static void follows(
      ModelJob job,
      Schedule schedule,
      JournalFormat.Next next,
      JournalFormat.@Nullable Move expected) {
    JournalFormat.Move move = next.move();
    check(
        next.over() == (expected == null) && next.over() == (move == null),
        Guarantee.RECURRENCES,
        () -> job + " goes on with " + move + ", expected " + expected);
    if (move == null || expected == null) {
      return;
    }
    check(
        move.time() == expected.time()
            && move.count() == expected.count()
            && move.missedUntil() == expected.missedUntil()
            && move.madeUp() == expected.madeUp(),
        Guarantee.RECURRENCES,
        () -> job + " goes on with " + move + ", expected " + expected + " by " + schedule);
    jitter(job, schedule, move);
    check(
        schedule.kind() == Schedule.Kind.AFTER_EACH || move.time() > moveOf(job).time(),
        Guarantee.RECURRENCES,
        () -> job + " has the time " + move.time() + " twice");
    Instant until = schedule.until();
    check(
        until == null || move.time() <= micros(until),
        Guarantee.RECURRENCES,
        () -> job + " goes on after its end");
  }

  private static void jitter(ModelJob job, Schedule schedule, JournalFormat.Move move) {
    check(
        move.jitter() >= 0 && move.jitter() <= micros(schedule.jitter()),
        Guarantee.RECURRENCES,
        () -> job + " has a jitter of " + move.jitter() + " by " + schedule);
  }

  /** The job goes on by another schedule, with the same count. */
  static void changes(ModelJob job, JournalFormat.Change change) {
    Schedule schedule = change.schedule();
    JournalFormat.Move move = change.move();
    if (schedule == null || move == null) {
      return;
    }
    JournalFormat.Move expected =
        of(schedule.first(instant(change.at())), moveOf(job).count(), Long.MIN_VALUE, 0);
    Long times = schedule.times();
    check(
        expected != null
            && (times == null || move.count() < times)
            && move.time() == expected.time()
            && move.count() == expected.count()
            && move.missedUntil() == expected.missedUntil()
            && move.madeUp() == 0,
        Guarantee.RECURRENCES,
        () -> job + " begins another schedule with " + move + ", expected " + expected);
    jitter(job, schedule, move);
  }

  /**
   * The job was declared again. Only another schedule moves it, and only where no occurrence is due
   * or under way: by one new period after the last occurrence where both have a period and no
   * start, else to the first time of the new schedule. What another change under way made of it
   * meanwhile its node need not have known.
   */
  static void updates(ModelJob job, JournalFormat.Update update) {
    Schedule schedule = update.spec().more().schedule();
    if (schedule == null) {
      throw new Violation(Guarantee.RECURRENCES, job + " recurs no more by " + update);
    }
    JournalFormat.Move move = update.move();
    if (move == null) {
      return;
    }
    List<ModelJob.Stand> stands = new ArrayList<>(job.standsBefore);
    stands.add(new ModelJob.Stand(scheduleOf(job), moveOf(job)));
    Long times = schedule.times();
    check(
        job.attempts == 0
            && (times == null || move.count() < times)
            && stands.stream().anyMatch(stand -> mayMove(stand, schedule, update.at(), move)),
        Guarantee.RECURRENCES,
        () -> job + " is declared again and goes on with " + move + ", it stood at " + stands);
    jitter(job, schedule, move);
  }

  private static boolean mayMove(
      ModelJob.Stand stand, Schedule schedule, long at, JournalFormat.Move to) {
    Schedule before = stand.schedule();
    JournalFormat.Move stood = stand.move();
    Duration old = before.start() == null ? before.period() : null;
    boolean counts = schedule.period() != null && schedule.start() == null;
    Instant time =
        old != null && counts
            ? schedule.next(instant(stood.time() - micros(old)))
            : schedule.first(instant(at));
    return !schedule.equals(before)
        && stood.time() > at
        && time != null
        && to.equals(
            new JournalFormat.Move(micros(time), to.jitter(), stood.count(), Long.MIN_VALUE, 0));
  }

  /**
   * The job has occurrences beyond its schedule, which some user asked for. What is written does
   * not say what for: one occurrence that is due now may be that of a trigger, and it may be all
   * that a backfill has in its range.
   */
  static void adds(ModelJob job, JournalFormat.Next next) {
    check(
        job.asked.changed(control -> mayAdd(job, next, control)),
        Guarantee.CONTROL,
        () -> job + " has occurrences that nobody asks for: " + next.children());
  }

  /**
   * Whether these may be the occurrences that {@code control} asked for: one now, or those of a
   * range; by the schedule of now or one that the job had when it was asked.
   */
  private static boolean mayAdd(ModelJob job, JournalFormat.Next next, Control control) {
    if (control.kind != Kind.TRIGGER && control.kind != Kind.BACKFILL) {
      return false;
    }
    for (int i = 0; i < job.schedules.size(); i++) {
      if (mayAdd(job, job.schedules.get(i), job.anchors.get(i), next, control)) {
        return true;
      }
    }
    // An occurrence that ended while the schedule was changed has moved on by the one before.
    JournalFormat.Move stands = job.move;
    return job.schedules.size() > 1
        && stands != null
        && mayAdd(job, job.schedules.getLast(), stands.time(), next, control);
  }

  private static boolean mayAdd(
      ModelJob job, Schedule schedule, long anchor, JournalFormat.Next next, Control control) {
    List<Long> expected =
        control.value instanceof ControlUsers.Range range
            ? times(schedule, anchor, range)
            : List.of(next.at());
    List<Long> times = next.children().stream().map(c -> c.occurrence().time()).toList();
    Overlap overlap = spawns(schedule) ? schedule.overlap() : Overlap.ALLOW;
    return times.equals(expected)
        && next.children().stream()
            .allMatch(
                child ->
                    child.occurrence().schedule() == job.number
                        && child.occurrence().number() == 0
                        && child.occurrence().overlap() == overlap
                        && child.due() == Math.min(child.occurrence().time(), next.at()));
  }

  /** The times that a schedule has in a range; {@code anchor} is its first if it names no start. */
  private static List<Long> times(Schedule schedule, long anchor, ControlUsers.Range range) {
    List<Long> times = new ArrayList<>();
    if (schedule.kind() == Schedule.Kind.AFTER_EACH) {
      return times;
    }
    Duration period = schedule.period();
    Instant start = schedule.start();
    Instant until = schedule.until();
    long from = start == null ? range.from() : Math.max(range.from(), micros(start));
    long to = until == null ? range.to() : Math.min(range.to(), micros(until));
    if (period == null) {
      Instant time = schedule.nextAfter(instant(from - 1), instant(from - 1));
      while (time != null && micros(time) <= to) {
        times.add(micros(time));
        time = schedule.next(time);
      }
    } else {
      long step = micros(period);
      long first = start != null ? micros(start) : anchor;
      long time = from + Math.floorMod(first - from, step);
      for (; time <= to; time += step) {
        times.add(time);
      }
    }
    return times;
  }

  static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }

  static long micros(Duration length) {
    return length.toNanos() / 1000;
  }

  static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
