package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Report;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Says of workflows whether what their code sees and does is what their journals say. */
final class WorkflowJudge {
  private static final int MOST_SAID = 32;

  private final World world;
  private final WorkflowModel model;

  /** Turns that the code has handed over, with what it had seen by then. */
  private final Map<JobRef, List<Said>> said = new LinkedHashMap<>();

  /** Bodies of steps that have begun, by what they return. */
  private final Map<String, Body> bodies = new LinkedHashMap<>();

  /** Tries of steps at most once that have begun. */
  private final Set<Body> begunOnce = new LinkedHashSet<>();

  /** The key of each step. */
  private final Map<String, String> keys = new LinkedHashMap<>();

  /** What the code of a round drew, by what it drew before. */
  private final Map<String, String> drawn = new LinkedHashMap<>();

  /** The rounds in which the code did something else than before. */
  private final Set<String> flipped = new LinkedHashSet<>();

  /** Those in which it threw once what is mended. */
  private final Set<String> broken = new LinkedHashSet<>();

  /** Workflows that were stopped while their code threw what is mended afterwards. */
  private final Set<JobRef> thrownOut = new LinkedHashSet<>();

  /** Every signal that is in a journal, by its payload. */
  private final Set<String> signals = new LinkedHashSet<>();

  private record Said(List<HistoryEntry> entries, List<String> seen) {}

  private record Body(int copy, JobRef ref, int revision, String step, int attempt) {}

  WorkflowJudge(World world, WorkflowModel model) {
    this.world = world;
    this.model = model;
  }

  private void count(String what) {
    world.table.countCall(what);
  }

  // ---- what the code does

  /** The code's turn goes to the node. */
  void says(JobRef ref, List<HistoryEntry> entries, List<String> seen) {
    List<Said> all = said.computeIfAbsent(ref, r -> new ArrayList<>());
    all.add(new Said(List.copyOf(entries), List.copyOf(seen)));
    if (all.size() > MOST_SAID) {
      all.removeFirst();
    }
  }

  /** The record that a run is about; null where the journals have gone on without it. */
  private @Nullable WorkflowRecord of(WorkflowPlay play) {
    WorkflowRecord record = play.life().stale() ? null : model.find(play.ref());
    return record != null && record.live && record.revision == play.revision() ? record : null;
  }

  /** Whether the journals go on with this run alone: no other node has its shard. */
  private static boolean isOwner(WorkflowPlay play, WorkflowRecord record) {
    return record.shard.owner == play.life().incarnation;
  }

  /** The code has seen something more. */
  void saw(WorkflowPlay play, List<String> seen, boolean isFree) {
    WorkflowRecord record = of(play);
    if (record == null) {
      return;
    }
    int last = seen.size() - 1;
    List<String> confirmed = record.confirmed;
    check(
        last >= confirmed.size() || confirmed.get(last).equals(seen.get(last)),
        Guarantee.REPLAY,
        () -> "%s sees %s and saw %s before".formatted(record, seen, confirmed));
    if (isFree) {
      drew(play, seen);
      return;
    }
    List<String> must = record.interpret().seen;
    check(
        must.size() > last && WorkflowInterpreter.agree(must.subList(0, last + 1), seen),
        Guarantee.REPLAY,
        () -> "%s sees %s, its history says %s".formatted(record, seen, must));
  }

  /** What the code draws follows from its job, whether anything was durable before or not. */
  private void drew(WorkflowPlay play, List<String> seen) {
    StringBuilder before = new StringBuilder(round(play));
    for (String each : seen.subList(0, seen.size() - 1)) {
      if (each.startsWith("random ") || each.startsWith("uuid ")) {
        before.append(' ').append(each.charAt(0));
      }
    }
    String now = seen.getLast();
    if (now.startsWith("random ") || now.startsWith("uuid ")) {
      String after = before.append(" then ").append(now.charAt(0)).toString();
      String first = drawn.putIfAbsent(after, now);
      check(
          first == null || first.equals(now),
          Guarantee.REPLAY,
          () -> "%s draws %s and drew %s before".formatted(play.ref(), now, first));
    }
  }

  /** The body of a step begins. */
  String begins(WorkflowPlay play, WorkflowStep step) {
    WorkflowRecord record = of(play);
    Body body = new Body(world.copy, play.ref(), play.revision(), step.name(), step.attempt());
    count(step.isUndo() ? "compensation bodies" : "step bodies");
    if (step.attempt() > 1) {
      count("step tries again");
    }
    if (step.isOnce() && !play.life().stale()) {
      check(
          begunOnce.add(body),
          Guarantee.STEPS_ONCE,
          () -> play.ref() + ": a step at most once is run twice: " + body);
    }
    String of = play.ref() + " " + play.revision() + " " + step.name();
    String before = keys.putIfAbsent(of, step.key());
    check(
        before == null || before.equals(step.key()),
        Guarantee.STEPS_ONCE,
        () -> of + " has the keys " + before + " and " + step.key());
    if (record != null && isOwner(play, record)) {
      mayBegin(record, step);
    }
    String result = "v" + Long.toHexString(world.chance.next());
    bodies.put(result, body);
    return result;
  }

  private static void mayBegin(WorkflowRecord record, WorkflowStep step) {
    check(
        !record.pauseAnswered || step.isUndo(),
        Guarantee.CONTROL,
        () -> record + " is paused, and begins " + step);
    int tries = 0;
    for (HistoryEntry entry : record.entries) {
      boolean ended =
          (entry instanceof HistoryEntry.StepDone done && done.name().equals(step.name()))
              || (entry instanceof HistoryEntry.StepFailed failed
                  && failed.name().equals(step.name())
                  && failed.nextAt() == 0);
      check(
          !ended,
          Guarantee.STEPS_ONCE,
          () -> record + " has recorded the result of " + step + ", which begins again");
      if (entry instanceof HistoryEntry.StepFailed failed && failed.name().equals(step.name())) {
        tries = failed.attempt();
      }
    }
    int before = tries;
    check(
        step.attempt() == before + 1,
        Guarantee.STEPS_ONCE,
        () -> record + " makes " + step + " after try " + before);
  }

  /** An attempt begins on a node. */
  void started(Life life, Attempt attempt) {
    JobRef ref = attempt.ref();
    WorkflowRecord record = life.stale() || attempt.isBorrowed() ? null : model.find(ref);
    if (record == null || record.shard.owner != life.incarnation) {
      return;
    }
    check(record.live, Guarantee.ONE_OUTCOME, () -> record + " starts after its end");
    check(
        record.current(attempt.number(), attempt.revision()),
        Guarantee.ONE_OUTCOME,
        () -> record + " starts, but its journal has gone on to another attempt");
    check(
        life.clock.wallMicros() >= record.due,
        Guarantee.NEVER_EARLY,
        () -> record + " starts " + (record.due - life.clock.wallMicros()) + " µs early");
    check(!record.pauseAnswered, Guarantee.CONTROL, () -> record + " starts though it is paused");
    check(
        record.checkpointed < world.climate.options().historyLimit().entries()
            || record.isStopped(),
        Guarantee.CONTROL,
        () -> record + " starts though its history is full");
    check(
        attempt.historyCount() <= record.entries.size(),
        Guarantee.FOLD,
        () -> record + " starts with more entries than its journal has");
  }

  /** Whether the code of a run may do something else than before: once in each round. */
  boolean mayFlip(WorkflowPlay play) {
    return of(play) != null && flipped.add(round(play));
  }

  /** Whether the code of a run throws what is mended afterwards: once in each round. */
  boolean breaks(WorkflowPlay play) {
    WorkflowRecord record = of(play);
    return record != null && !record.isStopped() && broken.add(round(play));
  }

  private String round(WorkflowPlay play) {
    return world.copy + " " + play.ref() + " " + play.revision();
  }

  /** An activation of a run ends so. */
  void outcome(WorkflowPlay play, AttemptOutcome outcome) {
    if (play.broke && outcome instanceof AttemptOutcome.Compensated) {
      thrownOut.add(play.ref()); // it was stopped while it threw: it got no further
    }
    if (outcome instanceof AttemptOutcome.Diverged diverged) {
      count("divergences");
      check(
          play.flippedAt != 0,
          Guarantee.DIVERGENCE,
          () -> play.ref() + " diverges, and its code is what it was: " + diverged.error());
      String call = "call " + play.flippedAt + ":";
      check(
          diverged.error().message().startsWith(call),
          Guarantee.DIVERGENCE,
          () -> play.ref() + " was changed at " + call + " and diverges: " + diverged.error());
    } else {
      check(
          play.flippedAt == 0 || play.stopped || outcome instanceof AttemptOutcome.Interrupted,
          Guarantee.DIVERGENCE,
          () -> play.ref() + " was changed at call " + play.flippedAt + " and nobody notices");
    }
  }

  // ---- what takes effect

  /** A user's workflow is in a journal. */
  void added(WorkflowRecord record) {
    world.trace.note("workflow added", record.id);
  }

  /** A checkpoint takes effect: what its code saw before is confirmed. */
  void confirm(WorkflowRecord record, List<HistoryEntry> entries) {
    List<HistoryEntry> own =
        entries.stream().filter(entry -> !(entry instanceof HistoryEntry.ChildStarted)).toList();
    for (Said each : said.getOrDefault(record.ref, List.of()).reversed()) {
      int size = each.entries.size();
      if (size == 0
          || size > own.size()
          || !WorkflowModel.same(each.entries, own.subList(0, size))) {
        continue;
      }
      List<String> before = record.confirmed;
      check(
          each.seen.size() >= before.size() && each.seen.subList(0, before.size()).equals(before),
          Guarantee.REPLAY,
          () ->
              "%s goes on having seen %s, and saw %s before".formatted(record, each.seen, before));
      record.confirmed = each.seen;
      return;
    }
  }

  /** An entry more is in the history. */
  void entry(WorkflowRecord record, HistoryEntry entry) {
    switch (entry) {
      case HistoryEntry.Begun e ->
          check(!record.hasBegun(), Guarantee.REPLAY, () -> record + " begins twice");
      case HistoryEntry.StepDone e -> {
        notEnded(record, e.call());
        Body body = bodies.get(WorkflowModel.text(e.result()));
        boolean isUndo = e.name().startsWith("u");
        check(
            isUndo
                || (body != null
                    && body.ref.equals(record.ref)
                    && body.revision == record.revision
                    && body.step.equals(e.name())
                    && body.attempt == e.attempt()),
            Guarantee.STEPS_ONCE,
            () -> record + " records a result of " + e.name() + " that is of " + body);
        count(isUndo ? "compensations done" : "steps done");
      }
      case HistoryEntry.StepFailed e -> {
        notEnded(record, e.call());
        count(e.nextAt() == 0 ? "steps failed for good" : "step tries failed");
      }
      case HistoryEntry.StepBegun e -> count("steps at most once begun");
      case HistoryEntry.TimerSet e -> count("timers set");
      case HistoryEntry.TimerFired e -> fired(record, e);
      case HistoryEntry.SignalAwaited e -> count("signals awaited");
      case HistoryEntry.VersionChosen e -> count("versions chosen");
      case HistoryEntry.ChildStarted e -> count("children started");
      case HistoryEntry.ChildEnded e -> {
        notEnded(record, e.call());
        count("children ended");
      }
      case HistoryEntry.Signalled e -> {
        check(
            signals.add(world.copy + " " + WorkflowModel.text(e.payload())),
            Guarantee.SIGNALS,
            () -> record + " is signalled twice by " + WorkflowModel.text(e.payload()));
        count("signals");
      }
      case HistoryEntry.CancelRequested e -> count("cancels told");
      case HistoryEntry.GivenUp e -> count("given up");
    }
  }

  private static void notEnded(WorkflowRecord record, int call) {
    for (HistoryEntry entry : record.entries) {
      boolean ended =
          switch (entry) {
            case HistoryEntry.StepDone e -> e.call() == call;
            case HistoryEntry.StepFailed e -> e.call() == call && e.nextAt() == 0;
            case HistoryEntry.TimerFired e -> e.call() == call;
            case HistoryEntry.ChildEnded e -> e.call() == call;
            default -> false;
          };
      check(!ended, Guarantee.STEPS_ONCE, () -> record + ": call " + call + " ends twice");
    }
  }

  private void fired(WorkflowRecord record, HistoryEntry.TimerFired fired) {
    notEnded(record, fired.call());
    long due =
        record.entries.stream()
            .filter(e -> e instanceof HistoryEntry.TimerSet set && set.call() == fired.call())
            .mapToLong(e -> ((HistoryEntry.TimerSet) e).dueAt())
            .findFirst()
            .orElse(Long.MAX_VALUE);
    check(
        fired.at() >= due,
        Guarantee.NEVER_EARLY,
        () -> "timer %d of %s fires %d µs early".formatted(fired.call(), record, due - fired.at()));
    count("timers fired");
  }

  /** Whether a signal with this payload took effect. */
  boolean isKnown(String payload) {
    return signals.contains(world.copy + " " + payload);
  }

  void childEnded(WorkflowRecord record, OperationBody.ChildEnded ended) {
    WorkflowRecord child = model.find(ended.child());
    check(
        child == null
            || (!child.live
                && child.end == ended.state()
                && (ended.state() != JobState.SUCCEEDED
                    || WorkflowModel.text(child.result)
                        .equals(WorkflowModel.text(ended.result())))),
        Guarantee.DEPENDENCIES,
        () -> record + " is told that " + child + " ended as " + ended.state());
  }

  void cancelled(WorkflowRecord record, JournalFormat.Cancel cancel) {
    check(
        record.parent != null || record.cancelAsked || record.terminateAsked,
        Guarantee.CANCEL,
        () -> "nobody asked to cancel " + record);
    check(
        cancel.demand() != 2 || record.parent != null || record.terminateAsked,
        Guarantee.CANCEL,
        () -> "nobody asked to terminate " + record);
    if (cancel.demand() == 2) {
      count("terminated");
    }
  }

  /** Somebody asked to try it again after it was dead: so may steps that run at most once. */
  void replayed(WorkflowRecord record) {
    check(
        record.replayAsked,
        Guarantee.ONE_OUTCOME,
        () -> record + " lives again, and nobody asked for it");
    begunOnce.removeIf(body -> body.copy == world.copy && body.ref.equals(record.ref));
    thrownOut.remove(record.ref);
    said.remove(record.ref);
  }

  /** What the code of a job reported is what its program shows. */
  void reported(WorkflowRecord record, Report report) {
    boolean restored = record.revival != null; // it may be of an earlier round
    if (!record.isWorkflow() || record.parent != null || report.published() == null || restored) {
      return;
    }
    count("published");
    String value = WorkflowModel.text(report.published());
    int at = Integer.parseInt(value.substring("at ".length()));
    check(
        record.program.ops.get(at).kind() == WorkflowProgram.Kind.SHOW,
        Guarantee.REPLAY,
        () -> record + " has published " + value + ", which its code does not");
  }

  /** It goes on from its beginning: no signal is lost, none comes again. */
  WorkflowInput renewed(WorkflowRecord record, OperationBody.Renew renew) {
    WorkflowInterpreter told = record.interpret();
    check(
        told.end() == WorkflowInterpreter.End.RENEWS && !told.isStopped(),
        Guarantee.REPLAY,
        () -> record + " begins anew, and its history says " + told.end());
    List<HistoryEntry> unread = new ArrayList<>();
    for (int i = 0; i < record.entries.size(); i++) {
      if (record.entries.get(i) instanceof HistoryEntry.Signalled && !told.taken.contains(i)) {
        unread.add(record.entries.get(i));
      }
    }
    check(
        WorkflowModel.same(renew.unread(), unread),
        Guarantee.SIGNALS,
        () ->
            "%s takes %d signals to its next round, %d are not taken"
                .formatted(record, renew.unread().size(), unread.size()));
    check(
        record.children.isEmpty(),
        Guarantee.DEPENDENCIES,
        () -> record + " begins anew and has children that live");
    count("continued as new");
    WorkflowInput next = WorkflowInput.of(JournalFormat.spec(renew.spec()).payload());
    check(
        next.equals(record.program.input.next()),
        Guarantee.REPLAY,
        () -> record + " begins anew with " + next);
    return next;
  }

  /** It ends: as its history says. */
  void ended(WorkflowRecord record, JournalFormat.End end) {
    for (JobRef ref : record.children.values()) {
      WorkflowRecord child = model.find(ref);
      check(
          child == null || !child.live || child.cancelled || child.terminated,
          Guarantee.DEPENDENCIES,
          () -> record + " ends as " + end.state() + " before its child " + child);
    }
    said.remove(record.ref);
    if (!record.isWorkflow()) {
      count("units " + end.state());
      return;
    }
    count("workflows " + end.state());
    if (thrownOut.contains(record.ref)
        || record.terminated
        || isPoison(end)
        || (end.attempt() == 0 && mayBeTerminated(record))) {
      return;
    }
    WorkflowInterpreter told = record.interpret();
    boolean stopped = told.isStopped();
    switch (end.state()) {
      case SUCCEEDED -> {
        String result = WorkflowModel.text(end.result());
        check(
            told.end() == WorkflowInterpreter.End.RETURNED
                && result.equals(WorkflowProgram.result(record.program.input)),
            Guarantee.REPLAY,
            () ->
                "%s ends with %s, its history says %s having seen %s"
                    .formatted(record, result, told.end(), told.seen));
      }
      case CANCELLED, EXPIRED ->
          check(
              !record.hasBegun() || stopped,
              Guarantee.COMPENSATIONS,
              () -> record + " ends as " + end.state() + " and its code was not told");
      default ->
          check(
              stopped || told.undos.isEmpty() || told.end() != WorkflowInterpreter.End.FAILED,
              Guarantee.COMPENSATIONS,
              () -> record + " ends as " + end.state() + " with nothing undone of " + told.undos);
    }
    boolean outOfTime = record.hasTimeout && end.state() == JobState.DEAD; // also to compensate
    if (end.state() != JobState.SUCCEEDED && record.hasBegun() && stopped && !outOfTime) {
      compensated(record, told, end);
    }
  }

  /** Whether somebody asked to terminate it, or the workflow that started it. */
  private boolean mayBeTerminated(WorkflowRecord record) {
    WorkflowRecord parent = record.parent == null ? null : model.find(record.parent);
    return record.terminateAsked || (parent != null && mayBeTerminated(parent));
  }

  private static boolean isPoison(JournalFormat.End end) {
    return end.reason() != null && end.reason().startsWith("poison");
  }

  private static void compensated(
      WorkflowRecord record, WorkflowInterpreter told, JournalFormat.End end) {
    check(
        told.end() != WorkflowInterpreter.End.WAITS,
        Guarantee.COMPENSATIONS,
        () -> record + " ends as " + end.state() + " while its code waits");
    List<Integer> order = new ArrayList<>(told.undos.keySet());
    Collections.reverse(order);
    int last = -1;
    boolean failed = false;
    for (int call : order) {
      int position = -1;
      for (int i = 0; i < record.entries.size(); i++) {
        HistoryEntry entry = record.entries.get(i);
        if (entry instanceof HistoryEntry.StepDone done && done.call() == call) {
          position = i;
        } else if (entry instanceof HistoryEntry.StepFailed failure
            && failure.call() == call
            && failure.nextAt() == 0) {
          position = i;
          failed = true;
        }
      }
      int at = position;
      int before = last;
      check(
          at > before,
          Guarantee.COMPENSATIONS,
          () ->
              "%s ends as %s, its compensation %s is %s: %s of %s in %s"
                  .formatted(
                      record,
                      end.state(),
                      told.undos.get(call),
                      at < 0 ? "not done" : "done before a later one",
                      told.seen,
                      record.program.ops,
                      record.entries));
      last = at;
    }
    check(
        !failed || end.state() == JobState.DEAD,
        Guarantee.COMPENSATIONS,
        () -> record + " ends as " + end.state() + ", a compensation of it failed");
  }
}
