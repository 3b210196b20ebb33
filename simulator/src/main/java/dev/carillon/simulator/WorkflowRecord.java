package dev.carillon.simulator;

import dev.carillon.api.JobState;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.WorkflowWait;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A workflow, or the child of one, as the checker knows it from the journal. */
final class WorkflowRecord {
  final ModelShard shard;
  final long number;
  final JobRef ref;
  final String type;

  /** The workflow that started it; null where a user did. */
  final @Nullable JobRef parent;

  /** Which of all workflows of the seed it is. */
  final long id;

  WorkflowProgram program;
  int attempts;
  int revision;
  long due;
  boolean live = true;
  @Nullable JobState end;
  byte[] result = {};
  @Nullable String pauseReason;

  /** It is paused since the workflow is that started it. */
  boolean pausedWithParent;

  /** Whoever paused it was told so, and nobody has asked to resume it since. */
  boolean pauseAnswered;

  /** It is asked to stop, in its journal. */
  boolean cancelled;

  boolean cancelAsked;
  boolean terminateAsked;
  boolean replayAsked;
  boolean terminated;
  boolean marked;
  long deadline;

  /** Whether each stretch of its code has so long and no longer. */
  boolean hasTimeout;

  /** How many entries its code has made. */
  int checkpointed;

  final List<HistoryEntry> entries = new ArrayList<>();
  @Nullable WorkflowWait wait;

  /** How often it has lived again after it was dead. */
  int replays;

  /** What it was before it was replayed, while its history is read; else null. */
  @Nullable WorkflowRevival revival;

  /** What it last published; empty for nothing. */
  String published = "";

  /** When something last happened to it. */
  long touchedNanos;

  /** What its code saw before something that is durable. */
  List<String> confirmed = List.of();

  /** Keys of signals that it has taken. */
  final Set<String> keys = new LinkedHashSet<>();

  /** Its live children by the calls that started them. */
  final Map<Integer, JobRef> children = new LinkedHashMap<>();

  /** Children whose checkpoint is in the journal and whose adds are to follow. */
  final Set<JobRef> awaitedAdds = new LinkedHashSet<>();

  WorkflowRecord(
      ModelShard shard, long number, String type, WorkflowInput input, @Nullable JobRef parent) {
    this.shard = shard;
    this.number = number;
    this.ref = new JobRef(shard.id, number);
    this.type = type;
    this.parent = parent;
    this.id = input.id();
    this.program = new WorkflowProgram(input);
  }

  /** The same in a copy of the shard. */
  WorkflowRecord copy(ModelShard to) {
    WorkflowRecord copy = new WorkflowRecord(to, number, type, program.input, parent);
    copy.attempts = attempts;
    copy.revision = revision;
    copy.due = due;
    copy.live = live;
    copy.end = end;
    copy.result = result;
    copy.pauseReason = pauseReason;
    copy.pausedWithParent = pausedWithParent;
    copy.replays = replays;
    copy.published = published;
    copy.pauseAnswered = pauseAnswered;
    copy.cancelled = cancelled;
    copy.cancelAsked = cancelAsked;
    copy.terminateAsked = terminateAsked;
    copy.replayAsked = replayAsked;
    copy.terminated = terminated;
    copy.marked = marked;
    copy.deadline = deadline;
    copy.hasTimeout = hasTimeout;
    copy.checkpointed = checkpointed;
    copy.entries.addAll(entries);
    copy.wait = wait;
    copy.touchedNanos = touchedNanos;
    copy.confirmed = confirmed;
    copy.keys.addAll(keys);
    copy.children.putAll(children);
    copy.awaitedAdds.addAll(awaitedAdds);
    return copy;
  }

  boolean isWorkflow() {
    return !type.equals(WorkflowProgram.UNIT.name());
  }

  boolean hasBegun() {
    return entries.stream().anyMatch(entry -> entry instanceof HistoryEntry.Begun);
  }

  /** Whether its code is to end. */
  boolean isStopped() {
    return entries.stream()
        .anyMatch(
            entry ->
                entry instanceof HistoryEntry.CancelRequested
                    || entry instanceof HistoryEntry.GivenUp);
  }

  /** Whether an operation of that attempt is about it as it is now. */
  boolean current(int attempt, int ofRevision) {
    return live && !terminated && attempt == attempts + 1 && ofRevision == revision;
  }

  /** When its shard must be awake for it. */
  long awakeBy() {
    return !live || (pauseReason != null && !terminated) ? Long.MAX_VALUE : due;
  }

  /** What its code must see, by what is in the journal. */
  WorkflowInterpreter interpret() {
    return new WorkflowInterpreter(program, entries);
  }

  /** Whether its wait is over, as the documents say. */
  boolean isOver(WorkflowWait waits) {
    for (int i = waits.seen(); i < entries.size(); i++) {
      if (entries.get(i) instanceof HistoryEntry.CancelRequested
          || entries.stream().anyMatch(HistoryEntry.GivenUp.class::isInstance)) {
        return true;
      }
    }
    int there = 0;
    for (WorkflowWait.AwaitedSignal signal : waits.signals()) {
      long count =
          entries.stream()
              .filter(e -> e instanceof HistoryEntry.Signalled s && s.type().equals(signal.type()))
              .count();
      there += count >= signal.count() ? 1 : 0;
    }
    for (int call : waits.children()) {
      there += children.containsKey(call) ? 0 : 1;
    }
    int awaited = waits.signals().size() + waits.children().size();
    return awaited > 0 && (waits.all() ? there == awaited : there > 0);
  }

  @Override
  public String toString() {
    return (isWorkflow() ? "" : "unit of ") + program.input + " round " + revision + " " + ref;
  }
}
