package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Report;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The workflows and their children as the journals have them, and what is said of each operation of
 * theirs that takes effect.
 */
final class WorkflowModel {
  private final World world;
  private final WorkflowJudge judge;
  private final List<WorkflowRecord> grown = new ArrayList<>();

  WorkflowModel(World world) {
    this.world = world;
    this.judge = new WorkflowJudge(world, this);
  }

  WorkflowJudge judge() {
    return judge;
  }

  /** The workflow or child there; null for none. */
  @Nullable WorkflowRecord find(JobRef ref) {
    ModelShard shard = world.model.shard(ref.shard());
    return shard == null ? null : shard.workflows.get(ref.number());
  }

  /** The same in that copy of the store. */
  @Nullable WorkflowRecord find(int copy, JobRef ref) {
    ModelShard shard = world.model.shard(copy, ref.shard());
    return shard == null ? null : shard.workflows.get(ref.number());
  }

  List<WorkflowRecord> all() {
    List<WorkflowRecord> all = new ArrayList<>();
    world.model.shards().forEach(shard -> all.addAll(shard.workflows.values()));
    return all;
  }

  /** Applies an operation; false where it is not about a workflow or the child of one. */
  boolean apply(ModelShard shard, JournalFormat.Op operation) {
    if (operation instanceof JournalFormat.Add add) {
      if (!add.spec().type().startsWith("wf-")) {
        return false;
      }
      add(shard, add);
      return true;
    }
    WorkflowRecord record = shard.workflows.get(operation.job());
    if (record == null) {
      return false;
    }
    if (operation instanceof JournalFormat.Told told && !record.live) {
      shard.debtNanos = world.clock.nanos();
      shard.debts.remove(new ModelShard.Debt(record.number, told.waiter()));
      return true;
    }
    if (operation instanceof JournalFormat.Replay replay && record.end == JobState.DEAD) {
      replayed(record, replay);
      return true;
    }
    if (!record.live) {
      world.trace.note("no effect on workflow", record.id);
      return true;
    }
    record.touchedNanos = world.clock.nanos();
    switch (operation) {
      case JournalFormat.OfWorkflow own -> own(record, own.body());
      case JournalFormat.Restored restored -> {
        record.revision = restored.revision();
        if (record.revival != null) {
          record.revival.keepKeys(record);
        }
      }
      case JournalFormat.Reported reported -> reported(record, reported.recorded());
      case JournalFormat.Start start ->
          record.marked |= record.current(start.attempt(), start.revision());
      case JournalFormat.Retry retry -> {
        if (record.current(retry.attempt(), retry.revision())) {
          record.attempts = retry.attempt();
          record.due = retry.nextTime() + retry.jitter();
          record.wait = null;
        }
      }
      case JournalFormat.Again again -> {
        if (record.current(again.attempt(), again.revision())) {
          record.due = again.due();
          record.wait = null;
        }
      }
      case JournalFormat.Cancel cancel -> cancel(record, cancel);
      case JournalFormat.Pause pause -> {
        if (!pause.withParent() || record.pauseReason == null) {
          record.pauseReason = pause.reason();
          record.pausedWithParent = pause.withParent();
        }
      }
      case JournalFormat.Resume resume -> {
        if (!resume.withParent() || record.pausedWithParent) {
          record.pauseReason = null;
          record.pausedWithParent = false;
          record.pauseAnswered = false;
        }
      }
      case JournalFormat.End end -> {
        if (end.attempt() == 0 || record.current(end.attempt(), end.revision())) {
          end(record, end);
        }
      }
      default -> {}
    }
    check(
        shard.wake <= record.awakeBy(),
        Guarantee.WAKE_TIME,
        () ->
            "%s needs its shard at %d, which wakes at %d"
                .formatted(record, record.awakeBy(), shard.wake));
    return true;
  }

  private void add(ModelShard shard, JournalFormat.Add add) {
    JournalFormat.Spec spec = add.spec();
    check(
        !shard.workflows.containsKey(add.job()),
        Guarantee.UNKNOWN_IS_SAID,
        () -> "the add of " + shard.workflows.get(add.job()) + " was written twice");
    JobRef parent = spec.more().waiters().isEmpty() ? null : spec.more().waiters().getFirst();
    WorkflowInput input = WorkflowInput.of(spec.payload());
    WorkflowRecord record = new WorkflowRecord(shard, add.job(), spec.type(), input, parent);
    if (parent != null) {
      WorkflowRecord by = find(parent);
      check(
          by != null && by.awaitedAdds.remove(record.ref),
          Guarantee.DEPENDENCIES,
          () -> "there is a child that its workflow did not start: " + record);
      if (by != null && by.pauseReason != null && by.shard == shard) {
        record.pauseReason = by.pauseReason;
        record.pausedWithParent = true;
      }
    } else {
      judge.added(record);
    }
    record.due = spec.due();
    record.deadline = spec.deadline();
    record.hasTimeout = spec.timeout() != 0;
    shard.workflows.put(record.number, record);
    shard.live++;
    world.model.entered();
    check(
        shard.wake <= record.due,
        Guarantee.WAKE_TIME,
        () -> record + " is added to a shard that sleeps beyond it");
  }

  private void own(WorkflowRecord record, OperationBody body) {
    switch (body) {
      case OperationBody.Checkpoint turn -> checkpoint(record, turn);
      case OperationBody.Wait wait -> {
        if (record.current(wait.attempt(), wait.revision())
            && wait.before() == record.checkpointed) {
          boolean over = record.isOver(wait.waitFor());
          record.wait = wait.waitFor();
          record.due = over ? wait.at() : wait.waitFor().untilMicros();
          world.trace.note("waits", record.id, record.due, "");
        }
      }
      case OperationBody.Signal signal -> {
        if (signal.key().isEmpty() || record.keys.add(signal.key())) {
          record(record, signal.entry());
        } else {
          world.trace.note("signal taken before", record.id);
        }
      }
      case OperationBody.ChildEnded ended -> {
        for (Map.Entry<Integer, JobRef> child : new LinkedHashMap<>(record.children).entrySet()) {
          if (child.getValue().equals(ended.child())) {
            judge.childEnded(record, ended);
            record(record, ended.entry(child.getKey()));
          }
        }
      }
      case OperationBody.Renew renew -> renew(record, renew);
      case OperationBody.History history -> restore(record, history.entries());
      default -> throw new IllegalStateException("body: " + body);
    }
  }

  // ---- replayed

  /** A dead workflow lives again; what it remembers follows. */
  private void replayed(WorkflowRecord record, JournalFormat.Replay replay) {
    judge.replayed(record);
    record.revival = new WorkflowRevival(record);
    record.live = true;
    record.end = null;
    record.result = new byte[0];
    record.attempts = 0;
    record.revision = 0;
    record.due = replay.spec().due();
    record.deadline = replay.spec().deadline();
    record.pauseReason = null;
    record.pauseAnswered = false;
    record.cancelled = false;
    record.marked = false;
    record.checkpointed = 0;
    record.entries.clear();
    record.children.clear();
    record.keys.clear();
    record.wait = null;
    record.published = "";
    record.replays++;
    record.touchedNanos = world.clock.nanos();
    record.shard.live++;
    world.model.entered();
    grown.add(record);
    world.trace.note("workflow replayed", record.id);
  }

  private void restore(WorkflowRecord record, List<HistoryEntry> entries) {
    check(
        record.revival != null,
        Guarantee.HISTORY,
        () -> "a history was appended that is of no replay: " + record);
    for (HistoryEntry entry : entries) {
      record.entries.add(entry);
      switch (entry) {
        case HistoryEntry.Signalled signal -> {
          if (!signal.key().isEmpty()) {
            record.keys.add(signal.key());
          }
        }
        case HistoryEntry.ChildEnded ended -> record.children.remove(ended.call());
        case HistoryEntry.ChildStarted child -> {
          record.checkpointed++;
          record.children.put(child.call(), child.child());
          if (find(child.child()) == null) {
            record.awaitedAdds.add(child.child());
          }
        }
        default -> record.checkpointed++;
      }
    }
  }

  private void reported(WorkflowRecord record, Report.Recorded recorded) {
    if (recorded.revision() != record.revision) {
      return;
    }
    judge.reported(record, recorded.report());
    byte[] value = recorded.report().published();
    if (value != null) {
      record.published = text(value);
    } else if (recorded.report().withdraws()) {
      record.published = "";
    }
  }

  // ---- what its code does

  private void checkpoint(WorkflowRecord record, OperationBody.Checkpoint turn) {
    if (!record.current(turn.attempt(), turn.revision()) || turn.before() != record.checkpointed) {
      world.trace.note("late checkpoint", record.id);
      return;
    }
    judge.confirm(record, turn.entries());
    record.checkpointed += turn.entries().size();
    record.wait = null;
    for (HistoryEntry entry : turn.entries()) {
      judge.entry(record, entry);
      record.entries.add(entry);
      if (entry instanceof HistoryEntry.ChildStarted child) {
        record.children.put(child.call(), child.child());
        record.awaitedAdds.add(child.child());
        grown.add(record);
      }
    }
    world.trace.note("checkpoint", record.id, record.entries.size(), "");
  }

  /** Something comes from outside. */
  private void record(WorkflowRecord record, HistoryEntry entry) {
    judge.entry(record, entry);
    record.entries.add(entry);
    if (entry instanceof HistoryEntry.ChildEnded ended) {
      record.children.remove(ended.call());
    }
    if (record.wait != null && record.isOver(record.wait)) {
      record.due = Math.min(record.due, entry.at());
    }
    world.trace.note("news", record.id, entry.getClass().getSimpleName());
  }

  private void renew(WorkflowRecord record, OperationBody.Renew renew) {
    if (!record.current(renew.attempt(), renew.revision())
        || renew.before() != record.checkpointed
        || renew.seen() != record.entries.size()) {
      return;
    }
    WorkflowInput next = judge.renewed(record, renew);
    record.program = new WorkflowProgram(next);
    record.revision++;
    record.attempts = 0;
    record.due = renew.at();
    record.checkpointed = 0;
    record.entries.clear();
    record.entries.addAll(renew.unread());
    record.wait = null;
    record.confirmed = List.of();
    record.children.clear();
    world.trace.note("renewed", record.id, record.revision, "");
  }

  private void cancel(WorkflowRecord record, JournalFormat.Cancel cancel) {
    boolean stops = record.cancelled || record.terminated;
    if (cancel.demand() == 2 ? record.terminated : stops) {
      return;
    }
    judge.cancelled(record, cancel);
    record.cancelled = true;
    record.terminated |= cancel.demand() == 2;
    if (cancel.demand() == 1) {
      record.pauseReason = null;
      record.pauseAnswered = false;
      record(record, new HistoryEntry.CancelRequested(cancel.at(), cancel.reason()));
    }
  }

  private void end(WorkflowRecord record, JournalFormat.End end) {
    judge.ended(record, end);
    record.live = false;
    record.end = end.state();
    record.result = end.result();
    record.shard.live--;
    world.model.left();
    if (record.parent != null) {
      record.shard.debts.add(new ModelShard.Debt(record.number, record.parent));
      record.shard.debtNanos = world.clock.nanos();
    }
    world.trace.note("workflow ended", record.id, record.revision, end.state().name());
  }

  /** A group of appends is in: no workflow is without the children that it started. */
  void groupDone() {
    for (WorkflowRecord record : grown) {
      check(
          record.awaitedAdds.isEmpty(),
          Guarantee.ATOMIC_BATCH,
          () -> record + " has started children that are not there: " + record.awaitedAdds);
      WorkflowRevival revival = record.revival;
      if (revival != null) {
        record.revival = null;
        revival.check(record);
        world.table.countCall(record.entries.isEmpty() ? "replays anew" : "replays that go on");
      }
    }
    grown.clear();
  }

  /** A snapshot of a shard: what it has of workflows. */
  static final class Snapshot {
    private final ModelShard shard;
    private final Map<Long, JournalFormat.Op> states = new LinkedHashMap<>();
    private final Map<Long, List<HistoryEntry>> histories = new LinkedHashMap<>();
    private final Set<Long> told = new LinkedHashSet<>();
    private final Map<Long, String> published = new LinkedHashMap<>();

    Snapshot(ModelShard shard) {
      this.shard = shard;
    }

    /** Takes what is about a workflow; false where it is not. */
    boolean note(JournalFormat.Op operation) {
      if (!shard.workflows.containsKey(operation.job())) {
        return false;
      }
      if (operation instanceof JournalFormat.State
          || operation instanceof JournalFormat.WorkflowState) {
        states.put(operation.job(), operation);
        histories.remove(operation.job()); // what evidence of an earlier end has of it
        published.remove(operation.job());
      } else if (operation instanceof JournalFormat.OfWorkflow own
          && own.body() instanceof OperationBody.History history) {
        histories
            .computeIfAbsent(operation.job(), job -> new ArrayList<>())
            .addAll(history.entries());
      }
      if (operation instanceof JournalFormat.Reported reported
          && reported.recorded().report().published() != null) {
        published.put(operation.job(), text(reported.recorded().report().published()));
      }
      if (operation instanceof JournalFormat.End) {
        states.remove(operation.job());
        told.add(operation.job());
      }
      return true;
    }

    void compare() {
      shard.workflows.values().forEach(this::compare);
    }

    private void compare(WorkflowRecord record) {
      if (!record.live) {
        check(
            record.end != JobState.DEAD || told.contains(record.number),
            Guarantee.RETENTION,
            () -> "the evidence of " + record + " is not in the snapshot");
        return;
      }
      JournalFormat.Op state = states.get(record.number);
      check(state != null, Guarantee.FOLD, () -> record + " is live and not in the snapshot");
      List<HistoryEntry> history = histories.getOrDefault(record.number, List.of());
      check(
          same(history, record.entries),
          Guarantee.FOLD,
          () ->
              "%s has %d entries in the snapshot, and %d or others in the journal"
                  .formatted(record, history.size(), record.entries.size()));
      String value = published.getOrDefault(record.number, "");
      check(
          value.equals(record.published),
          Guarantee.FOLD,
          () -> "%s published %s, in the snapshot %s".formatted(record, record.published, value));
      if (state instanceof JournalFormat.WorkflowState of) {
        check(
            of.attempts() == record.attempts
                && of.revision() == record.revision
                && of.due() == record.due,
            Guarantee.FOLD,
            () -> record + " is otherwise in the snapshot: " + of + ", due at " + record.due);
      }
    }
  }

  static boolean same(List<? extends HistoryEntry> one, List<? extends HistoryEntry> other) {
    if (one.size() != other.size()) {
      return false;
    }
    for (int i = 0; i < one.size(); i++) {
      if (!same(one.get(i), other.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean same(HistoryEntry one, HistoryEntry other) {
    return Arrays.equals(one.encode(), other.encode());
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
