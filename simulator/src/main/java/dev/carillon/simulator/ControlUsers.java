package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.simulator.UserOperations.Kind;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Users who change live jobs: they pause, resume and move them, and check what they are told. */
final class ControlUsers {
  /**
   * How long a schedule may still go on where nodes send heartbeats: a clock put back makes it
   * longer.
   */
  private static final long LONGEST_MICROS = 600L * 1_000_000;

  /** A clock that went back by hours makes more occurrences than were planned. */
  private static final int MOST_LEFT = 1_000;

  private static final int TRIES = 4;
  private static final int MOST_BACKFILLED = 10;
  private static final long HOUR = 3_600_000_000L;

  private final World world;
  private final Ledger ledger;
  private final UserOperations operations;
  private final Users users;
  private final Wishes wishes;
  private int reasons;

  /** The range of a backfill, both ends included. */
  record Range(long from, long to) {}

  ControlUsers(World world, Ledger ledger, UserOperations operations, Users users, Wishes wishes) {
    this.world = world;
    this.ledger = ledger;
    this.operations = operations;
    this.users = users;
    this.wishes = wishes;
  }

  /** A job that may be changed: often one that lives, and now and then one that runs. */
  private @Nullable JobRef someJob(Life life) {
    List<Execution> running = life.handlers.all();
    if (!running.isEmpty() && world.chance.oneIn(3)) {
      return world.chance.pick(running).job.ref;
    }
    JobRef ref = null;
    for (int i = 0; i < TRIES; i++) {
      ref = world.chance.oneIn(3) ? users.someRecurring() : users.someJob();
      ModelJob job = ref == null ? null : ledger.job(ref);
      if (job != null && job.live()) {
        return ref;
      }
    }
    return ref;
  }

  /** One change of some job. */
  void change(Life life) {
    switch (world.chance.below(8)) {
      case 0, 1 -> pause(life);
      case 2 -> resume(life);
      case 3 -> reschedule(life);
      case 4 -> newSchedule(life);
      case 5 -> prioritise(life);
      case 6 -> trigger(life);
      default -> backfill(life);
    }
  }

  private void pause(Life life) {
    JobRef ref = someJob(life);
    if (ref != null) {
      String reason = "pause " + reasons++;
      ask(
          life,
          ref,
          new Control(Kind.CONTROL_PAUSE, reason),
          answer -> life.node.pause(ref, life.node.why(reason), answer));
    }
  }

  private void resume(Life life) {
    List<ModelJob> paused = new ArrayList<>();
    for (ModelShard shard : world.model.shards()) {
      for (ModelJob job : shard.jobs.values()) {
        if (job.live() && job.pauseReason != null) {
          paused.add(job);
        }
      }
    }
    JobRef ref =
        paused.isEmpty() || world.chance.oneIn(6) ? someJob(life) : world.chance.pick(paused).ref;
    if (ref != null) {
      resume(life, ref);
    }
  }

  private void resume(Life life, JobRef ref) {
    ask(
        life,
        ref,
        new Control(Kind.RESUME, null),
        answer -> life.node.resume(ref, life.node.id(), answer));
  }

  private void reschedule(Life life) {
    JobRef ref = someJob(life);
    if (ref != null) {
      long due = wishes.due();
      ask(
          life,
          ref,
          new Control(Kind.RESCHEDULE, due),
          answer -> life.node.reschedule(ref, life.node.id(), due, answer));
    }
  }

  private void newSchedule(Life life) {
    JobRef ref = world.chance.oneIn(8) ? someJob(life) : users.someRecurring();
    if (ref != null) {
      Schedule schedule = wishes.schedule();
      ask(
          life,
          ref,
          new Control(Kind.NEW_SCHEDULE, schedule),
          answer -> life.node.reschedule(ref, life.node.id(), schedule, answer));
    }
  }

  private void prioritise(Life life) {
    JobRef ref = someJob(life);
    if (ref != null) {
      int priority = (int) world.chance.between(-5, 5);
      ask(
          life,
          ref,
          new Control(Kind.PRIORITISE, priority),
          answer -> life.node.prioritise(ref, life.node.id(), priority, answer));
    }
  }

  /** Tries a dead letter again, or lets go of it. */
  void tendDead(Life life) {
    List<ModelJob> dead = new ArrayList<>();
    for (ModelShard shard : world.model.shards()) {
      for (ModelJob job : shard.jobs.values()) {
        if (job.end == JobState.DEAD && !job.discarded && !shard.dropped) {
          dead.add(job);
        }
      }
    }
    JobRef ref =
        dead.isEmpty() || world.chance.oneIn(8) ? users.someJob() : world.chance.pick(dead).ref;
    if (ref == null) {
      return;
    }
    if (world.chance.oneIn(2)) {
      ask(
          life,
          ref,
          new Control(Kind.REPLAY, null),
          answer -> life.node.replay(ref, "user", null, answer));
    } else {
      ask(
          life,
          ref,
          new Control(Kind.DISCARD, null),
          answer -> life.node.discard(ref, "user", answer));
    }
  }

  private void ask(
      Life life, JobRef ref, Control control, Consumer<Consumer<Outcome<ControlResult>>> question) {
    ModelJob job = begin(life, ref, control);
    question.accept(outcome -> answered(life, job, control, outcome));
  }

  private @Nullable ModelJob begin(Life life, JobRef ref, Control control) {
    ModelJob job = ledger.job(ref);
    if (job != null) {
      job.asked.add(control);
      job.touchedNanos = world.clock.nanos();
    }
    control.copy = life.opening.copy();
    operations.begins(life, control.kind);
    world.trace.note(control.kind.toString(), job != null ? job.request : -2);
    return job;
  }

  private void answered(
      Life life, @Nullable ModelJob job, Control control, Outcome<ControlResult> outcome) {
    operations.ends(life, control.kind);
    world.trace.note("answer", job != null ? job.request : -2, control.kind + " " + outcome);
    if (control.copy != world.copy) {
      return; // an older copy of the store was put back since
    }
    notToldBefore(job, control);
    if (outcome instanceof Outcome.Ok<ControlResult>(ControlResult result)) {
      check(
          job != null || result == ControlResult.NOT_FOUND,
          Guarantee.CONTROL,
          () -> control + " of a job that never was is answered " + result);
      if (job != null) {
        isTrue(job, control, result);
      }
    } else if (outcome instanceof Outcome.Unavailable || outcome instanceof Outcome.Full) {
      notDone(job, control, outcome.toString());
    }
  }

  private static void isTrue(ModelJob job, Control control, ControlResult result) {
    switch (result) {
      case DONE -> {
        tell(job, control, Control.Told.DONE, "done");
        if (control.kind == Kind.CONTROL_PAUSE) {
          job.pauseAnswered = control.value != null && control.value.equals(job.pauseReason);
        }
      }
      case ENDED -> {
        check(
            !job.ends.isEmpty(),
            Guarantee.CONTROL,
            () -> job + " is said to have ended and has not: " + control);
        notDone(job, control, "ended");
      }
      case NOT_FOUND -> {
        check(
            job.forgotten(),
            Guarantee.CONTROL,
            () -> job + " is said not to be there and is: " + control);
        notDone(job, control, "not found");
      }
      case RUNNING, NOT_RECURRING, NO_TIME_LEFT, TOO_MANY, NOT_DEAD, OTHER_TYPE, NOT_RESUMABLE ->
          notDone(job, control, result.name());
    }
  }

  private static void notDone(@Nullable ModelJob job, Control control, String why) {
    tell(job, control, Control.Told.NOT_DONE, "not done (" + why + ")");
  }

  private static void notToldBefore(@Nullable ModelJob job, Control control) {
    check(
        control.told == Control.Told.NOTHING,
        Guarantee.CONTROL,
        () -> control + " of " + job + " is answered twice");
  }

  private static void tell(
      @Nullable ModelJob job, Control control, Control.Told told, String words) {
    control.told = told;
    check(
        job != null ? job.asked.allows(control) : told == Control.Told.NOT_DONE,
        Guarantee.CONTROL,
        () -> control + " of " + job + " is said to be " + words + ", against what is written");
  }

  // ---- occurrences beyond the schedule

  private void trigger(Life life) {
    JobRef ref = world.chance.oneIn(8) ? someJob(life) : users.someRecurring();
    if (ref != null) {
      Control control = new Control(Kind.TRIGGER, null);
      life.node.trigger(ref, new Added(life, begin(life, ref, control), control));
    }
  }

  private void backfill(Life life) {
    JobRef ref = world.chance.oneIn(8) ? someJob(life) : users.someRecurring();
    if (ref != null) {
      Range range = range(ledger.job(ref));
      Control control = new Control(Kind.BACKFILL, range);
      Instant from = RecurrenceJudge.instant(range.from());
      Instant to = RecurrenceJudge.instant(range.to());
      life.node.backfill(ref, from, to, new Added(life, begin(life, ref, control), control));
    }
  }

  private Range range(@Nullable ModelJob job) {
    long now = world.clock.wallMicros();
    Schedule schedule = job == null ? null : job.spec.more().schedule();
    long step = HOUR;
    if (schedule != null && schedule.period() != null) {
      step = RecurrenceJudge.micros(schedule.period());
    } else if (schedule != null) {
      Instant next = schedule.next(RecurrenceJudge.instant(now));
      Instant then = next == null ? null : schedule.next(next);
      if (next != null && then != null) {
        step = RecurrenceJudge.micros(then) - RecurrenceJudge.micros(next);
      }
    }
    long from = now - world.chance.between(0, MOST_BACKFILLED * step);
    return new Range(from, Math.min(now, from + world.chance.between(0, MOST_BACKFILLED * step)));
  }

  private final class Added implements OccurrencesAdded {
    private final Life life;
    private final @Nullable ModelJob job;
    private final Control control;

    Added(Life life, @Nullable ModelJob job, Control control) {
      this.life = life;
      this.job = job;
      this.control = control;
    }

    @Override
    public void added(List<JobRef> refs) {
      operations.ends(life, control.kind);
      world.trace.note("answer", job != null ? job.request : -2, refs.size(), "added");
      if (control.copy != world.copy) {
        return;
      }
      for (JobRef ref : refs) {
        ModelJob occurrence = ledger.job(ref);
        check(
            occurrence != null && occurrence.parent == job,
            Guarantee.CONTROL,
            () -> control + " of " + job + " is said to have made " + occurrence);
      }
      notToldBefore(job, control);
      Control.Told told = refs.isEmpty() ? Control.Told.NOT_DONE : Control.Told.DONE;
      tell(job, control, told, "done, with " + refs.size() + " occurrences");
    }

    @Override
    public void refused(Outcome<ControlResult> why) {
      check(
          !why.equals(Outcome.ok(ControlResult.DONE)),
          Guarantee.CONTROL,
          () -> control + " of " + job + " is refused as done");
      answered(life, job, control, why);
    }
  }

  // ---- good weather

  /**
   * Lets go on what would wait for ever, and ends what would never end, in the shards that the node
   * has or nobody; true if there was any.
   */
  boolean tidy(Life life) {
    boolean any = false;
    for (ModelShard shard : world.model.shards()) {
      if (shard.owner != life.incarnation && world.lives(shard.owner)) {
        continue;
      }
      for (ModelJob job : List.copyOf(shard.jobs.values())) {
        if (job.live() && job.pauseReason != null) {
          any = true;
          resume(life, job.ref);
        }
        Schedule schedule = job.spec.more().schedule();
        if (job.live() && schedule != null && isTooLong(schedule)) {
          any = true;
          job.cancelAsked = true;
          job.touchedNanos = world.clock.nanos();
          operations.begins(life, Kind.CANCEL);
          life.node.cancel(
              job.ref,
              life.node.why("enough"),
              (Outcome<CancelResult> o) -> operations.ends(life, Kind.CANCEL));
        }
      }
    }
    return any;
  }

  /** Whether a schedule goes on for ever, or for longer than anybody can watch. */
  private boolean isTooLong(Schedule schedule) {
    Instant until = schedule.until();
    if (until == null) {
      return Request.Rules.endless(schedule);
    }
    long left = RecurrenceJudge.micros(until) - world.clock.latestWallMicros();
    boolean cannotSleep = world.climate.nodes > 1 && left > LONGEST_MICROS;
    Duration period = schedule.period();
    return cannotSleep || (period != null && left / 1_000 / MOST_LEFT > period.toMillis());
  }
}
