package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobError;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.replay.Activation;
import dev.carillon.replay.WorkflowRun;
import dev.carillon.store.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The workflows of one life of a node, as a library would run them: each parked run is a cache that
 * may be lost at any moment. The plain jobs that are their children run here too.
 */
final class WorkflowActors {
  private static final long LONGEST_THREAD_NANOS = 5 * VirtualClock.MILLI;
  private static final long LONGEST_WAY_NANOS = VirtualClock.MILLI;

  /** A thread that has to wait for a processor, with what its code did in its hands. */
  private static final int HELD_UP_ONE_IN = 10;

  private static final long LONGEST_HELD_UP_NANOS = 100 * VirtualClock.MILLI;
  private static final long LONGEST_PARKED_NANOS = 30 * VirtualClock.SECOND;
  private static final long QUICK_NANOS = 20 * VirtualClock.MILLI;
  private static final long UNREAD_WAIT_MICROS = 1_000_000;

  private final Life life;
  private final World world;
  private final UserOperations users;
  private final WorkflowJudge judge;
  private final Map<JobRef, Kept> kept = new LinkedHashMap<>();
  private final Map<Attempt, Activity> active = new LinkedHashMap<>();
  private final Set<Attempt> units = new LinkedHashSet<>();
  private final List<WorkflowPlay> plays = new ArrayList<>();
  private boolean gone;

  WorkflowActors(Life life, Life.Parts parts) {
    this.life = life;
    this.world = parts.world();
    this.users = parts.users();
    this.judge = world.workflows.judge();
  }

  /** A run and what it was told. */
  private static final class Kept {
    final JobRef ref;
    final WorkflowPlay play;
    final List<HistoryEntry> early = new ArrayList<>();
    int count;
    @Nullable WorkflowRun run;
    @Nullable Activity current;
    boolean parked;

    Kept(JobRef ref, WorkflowPlay play, int count) {
      this.ref = ref;
      this.play = play;
      this.count = count;
    }
  }

  int running() {
    return active.size() + units.size();
  }

  static boolean isTheirs(Attempt attempt) {
    return attempt.type().startsWith("wf-");
  }

  void start(Attempt attempt) {
    users.begins(life, UserOperations.Kind.ATTEMPT);
    world.trace.note("workflow attempt", attempt.number(), attempt.historyCount(), attempt.type());
    judge.started(life, attempt);
    if (attempt.type().equals(WorkflowProgram.UNIT.name())) {
      unit(attempt);
      return;
    }
    attempt.ofWorkflow = true;
    Kept found = kept.get(attempt.ref());
    if (found != null
        && found.run != null
        && found.parked
        && found.count == attempt.historyCount()) {
      world.table.countCall("parked runs that go on");
      found.parked = false;
      Activity activity = activity(found, attempt);
      activity.resumes = true;
      soon(activity);
      return;
    }
    if (found != null) {
      drop(found, "its history has gone on without it");
    }
    begin(attempt);
  }

  private Activity activity(Kept of, Attempt attempt) {
    Activity activity = new Activity(of, attempt);
    attempt.attach(activity);
    of.play.attempt = attempt;
    active.put(attempt, activity);
    of.current = activity;
    return activity;
  }

  private void begin(Attempt attempt) {
    WorkflowPlay play = new WorkflowPlay(life, world, attempt);
    plays.add(play);
    Kept begun = new Kept(attempt.ref(), play, attempt.historyCount());
    kept.put(begun.ref, begun);
    Activity activity = activity(begun, attempt);
    if (attempt.historyCount() == 0) {
      begin(begun, activity, List.of());
    } else {
      world.table.countCall("runs from a history");
      life.node.history(attempt, answer -> loaded(begun, activity, answer));
    }
  }

  private void loaded(Kept begun, Activity activity, Outcome<List<HistoryEntry>> answer) {
    int expected = activity.attempt.historyCount();
    if (activity.interruptRequested || kept.get(begun.ref) != begun) {
      activity.ended(new AttemptOutcome.Interrupted());
    } else if (answer instanceof Outcome.Ok<List<HistoryEntry>>(List<HistoryEntry> entries)
        && entries.size() == expected) {
      begin(begun, activity, entries);
    } else {
      check(
          life.stale() || !(answer instanceof Outcome.Ok || answer instanceof Outcome.Damaged),
          Guarantee.HISTORY,
          () -> "%s has not its %d entries: %s".formatted(begun.ref, expected, answer));
      world.trace.note("history not read", begun.play.id(), answer.getClass().getSimpleName());
      long due = life.clock.wallMicros() + UNREAD_WAIT_MICROS;
      activity.ended(new AttemptOutcome.Again(due, "its history could not be read"));
    }
  }

  private void begin(Kept begun, Activity activity, List<HistoryEntry> entries) {
    WorkflowRun run = new WorkflowRun(begun.play, begun.play);
    List<HistoryEntry> all = new ArrayList<>(entries);
    all.addAll(begun.early);
    begun.early.clear();
    begun.run = run;
    begun.play.begins(all);
    run.begin(all, activity);
    soon(activity);
  }

  private void soon(Activity activity) {
    world.in(
        world.chance.spread(VirtualClock.MICRO, LONGEST_THREAD_NANOS),
        () -> life.let(activity::go));
  }

  void told(JobRef ref, int count, HistoryEntry entry) {
    Kept of = kept.get(ref);
    if (of == null || count <= of.count) {
      return;
    }
    if (count > of.count + 1) {
      drop(of, "an entry of its history was missed");
      return;
    }
    of.count = count;
    WorkflowRun run = of.run;
    if (run == null) {
      of.early.add(entry);
    } else {
      run.told(entry);
    }
  }

  void forget(JobRef ref) {
    Kept of = kept.get(ref);
    if (of != null) {
      drop(of, "the job is no longer here");
    }
  }

  /** Forgets a run; by chance its thread is unwound, or left where it is for ever. */
  private void drop(Kept of, String why) {
    kept.remove(of.ref, of);
    WorkflowRun run = of.run;
    if (run != null && !run.isOver() && (!of.parked || world.chance.oneIn(2))) {
      run.unwind(why);
    }
    of.parked = false;
  }

  private void ended(Activity activity) {
    Kept of = activity.of;
    if (of.current != activity || kept.get(of.ref) != of) {
      return;
    }
    of.current = null;
    WorkflowRun run = of.run;
    if (run == null || !run.isParked() || activity.attempt.isBorrowed()) {
      drop(of, "the run is over");
      return;
    }
    of.parked = true;
    if (world.chance.happens(world.climate.evictions)) {
      evict(of);
    } else if (world.chance.oneIn(2)) {
      world.in(
          world.chance.spread(VirtualClock.MICRO, LONGEST_PARKED_NANOS),
          () -> life.let(() -> evict(of)));
    }
  }

  private void evict(Kept of) {
    if (of.parked && kept.get(of.ref) == of) {
      world.table.countCall("evicted");
      world.trace.note("evicted", of.play.id());
      drop(of, "its thread is needed elsewhere");
    }
  }

  void interrupt(Attempt attempt) {
    Activity activity = active.get(attempt);
    if (activity != null && !activity.over) {
      boolean first = !activity.interruptRequested;
      activity.interruptRequested = true;
      WorkflowRun run = activity.of.run;
      if (first && run != null) {
        run.unwind("interrupted: " + attempt.stopWord());
        run.interrupt();
        activity.of.play.wakeAll();
      }
    }
    if (units.contains(attempt)) {
      unitEnds(attempt, 0, new AttemptOutcome.Interrupted());
    }
  }

  /** The process is gone. */
  void cutOff() {
    gone = true;
    plays.forEach(WorkflowPlay::cutOff);
  }

  /** An attempt of a workflow. */
  private final class Activity implements Activation {
    private final Kept of;
    private final Attempt attempt;
    private boolean resumes;
    private boolean interruptRequested;
    private boolean over;

    Activity(Kept of, Attempt attempt) {
      this.of = of;
      this.attempt = attempt;
    }

    void go() {
      WorkflowRun run = of.run;
      long now = life.clock.wallMicros();
      if (run == null || interruptRequested) {
        ended(new AttemptOutcome.Interrupted());
      } else if (!attempt.isDue(now)) {
        ended(new AttemptOutcome.TooEarly());
      } else if (attempt.isTooLate(life.clock.monotonicNanos())) {
        ended(new AttemptOutcome.TooLate());
      } else {
        attempt.called(now);
        if (resumes) {
          run.resume(this);
        } else {
          of.play.start(run);
        }
      }
    }

    @Override
    public void entered() {}

    @Override
    public void checkpoint(WorkflowTurn turn, Consumer<CheckpointAnswer> answer) {
      if (gone) {
        return;
      }
      judge.says(of.ref, turn.entries(), of.play.seen());
      users.begins(life, UserOperations.Kind.CHECKPOINT);
      boolean heldUp = world.faulty && world.chance.oneIn(HELD_UP_ONE_IN);
      world.in(
          world.chance.spread(
              VirtualClock.MICRO, heldUp ? LONGEST_HELD_UP_NANOS : LONGEST_WAY_NANOS),
          () ->
              life.deliver(
                  () ->
                      life.node.checkpoint(
                          attempt,
                          turn,
                          outcome -> {
                            users.ends(life, UserOperations.Kind.CHECKPOINT);
                            boolean written = outcome.equals(Outcome.ok(true));
                            world.table.countCall(
                                written ? "checkpoints" : "checkpoints refused or unknown");
                            answer.accept(
                                written ? CheckpointAnswer.DURABLE : CheckpointAnswer.LOST);
                          })));
    }

    @Override
    public void ended(AttemptOutcome outcome) {
      if (gone || over) {
        return;
      }
      over = true;
      attempt.returned(life.clock.wallMicros());
      switch (outcome) {
        case AttemptOutcome.Waiting waiting ->
            judge.says(of.ref, waiting.turn().entries(), of.play.seen());
        case AttemptOutcome.WorkflowFailed failed ->
            judge.says(of.ref, failed.turn().entries(), of.play.seen());
        default -> {}
      }
      try {
        judge.outcome(of.play, outcome);
      } catch (Violation broken) {
        world.stage.fail(broken);
      }
      world.in(
          world.chance.spread(VirtualClock.MICRO, LONGEST_WAY_NANOS),
          () -> life.deliver(() -> finished(outcome)));
    }

    private void finished(AttemptOutcome outcome) {
      users.ends(life, UserOperations.Kind.ATTEMPT);
      active.remove(attempt);
      WorkflowActors.this.ended(this);
      boolean accepted = life.node.finished(attempt, outcome);
      String how = outcome.getClass().getSimpleName();
      world.table.countCall("activation " + how);
      world.trace.note("activation ends", of.play.id(), accepted ? 1 : 0, how);
    }

    @Override
    public boolean pauseRequested() {
      return attempt.pauseRequested();
    }

    @Override
    public boolean cancellationRequested() {
      return attempt.cancellationRequested() || interruptRequested;
    }

    @Override
    public AttemptOutcome.Verdict verdict(Throwable thrown) {
      return new AttemptOutcome.Verdict.ByPolicy();
    }
  }

  // ---- children that are plain jobs

  private void unit(Attempt attempt) {
    units.add(attempt);
    WorkflowInput input = WorkflowInput.of(attempt.spec().payload());
    Chance own = new Chance(input.seed());
    boolean fails = own.oneIn(4);
    long nanos =
        world.chance.oneIn(4)
            ? world.chance.spread(VirtualClock.MILLI, 10 * VirtualClock.SECOND)
            : world.chance.between(0, QUICK_NANOS);
    AttemptOutcome outcome =
        fails
            ? new AttemptOutcome.Failed(
                new JobError("simulated.unit", "a unit that fails", ""),
                new AttemptOutcome.Verdict.NotRetryable())
            : new AttemptOutcome.Succeeded(
                ("unit" + input.path()).getBytes(StandardCharsets.UTF_8));
    unitEnds(attempt, nanos, outcome);
  }

  private void unitEnds(Attempt attempt, long nanos, AttemptOutcome outcome) {
    world.in(
        nanos,
        () ->
            life.deliver(
                () -> {
                  if (units.remove(attempt)) {
                    users.ends(life, UserOperations.Kind.ATTEMPT);
                    var unused = life.node.finished(attempt, outcome);
                  }
                }));
  }
}
