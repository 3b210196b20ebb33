package dev.carillon.simulator;

import dev.carillon.api.JobState;
import dev.carillon.engine.job.HistoryEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a dead workflow was when somebody replayed it, and whether what it remembers is right:
 * nothing where it was undone or cancelled, under other keys; else all but what failed last and the
 * calls that followed that, in order, with every signal, the keys of signals and what it published.
 */
final class WorkflowRevival {
  private final List<HistoryEntry> before;
  private final int revision;
  private final List<String> confirmed;
  private final Set<String> keys;
  private final String published;

  WorkflowRevival(WorkflowRecord dead) {
    this.before = List.copyOf(dead.entries);
    this.revision = dead.revision;
    this.confirmed = dead.confirmed;
    this.keys = new LinkedHashSet<>(dead.keys);
    this.published = dead.published;
  }

  /** What it took before, it does not take again; unless it begins anew, for it was undone. */
  void keepKeys(WorkflowRecord record) {
    if (!isUndone()) {
      record.keys.addAll(keys);
    }
  }

  /** Looks at the workflow as it is behind its replay. */
  void check(WorkflowRecord record) {
    if (isUndone()) {
      said(record.entries.isEmpty(), record, "was undone and goes on");
      said(record.revision == revision + 1, record, "was undone and has its old keys");
      record.confirmed = List.of();
      return;
    }
    said(record.revision == revision, record, "goes on under other keys");
    said(record.published.equals(published), record, "published " + published + " before");
    int at = 0;
    for (HistoryEntry entry : record.entries) {
      while (at < before.size() && !isSame(before.get(at), entry)) {
        mayGo(before.get(at), record);
        at++;
      }
      said(at < before.size(), record, "has an entry that it had not: " + entry);
      at++;
    }
    for (HistoryEntry left : before.subList(Math.min(at, before.size()), before.size())) {
      mayGo(left, record);
    }
    record.confirmed = stillSeen(record);
  }

  /** A started child may be another job now. */
  private static boolean isSame(HistoryEntry one, HistoryEntry other) {
    if (one instanceof HistoryEntry.ChildStarted was
        && other instanceof HistoryEntry.ChildStarted is) {
      return was.call() == is.call();
    }
    return Arrays.equals(one.encode(), other.encode());
  }

  /** Whether an entry may be forgotten. */
  private void mayGo(HistoryEntry entry, WorkflowRecord record) {
    int call = WorkflowEntries.call(entry);
    boolean may =
        entry instanceof HistoryEntry.GivenUp
            || (entry instanceof HistoryEntry.ChildEnded ended
                && ended.state() != JobState.SUCCEEDED)
            || (call != 0 && (failed(call) || firstOf(call) > lastFailure()));
    said(may, record, "has forgotten " + entry + " of " + before);
  }

  private boolean failed(int call) {
    int last = lastFailure();
    return last < before.size() && WorkflowEntries.call(before.get(last)) == call;
  }

  private int firstOf(int call) {
    for (int i = 0; i < before.size(); i++) {
      if (WorkflowEntries.call(before.get(i)) == call) {
        return i;
      }
    }
    return -1;
  }

  /** Where the last step or child failed for good; behind all where none did. */
  private int lastFailure() {
    for (int i = before.size() - 1; i >= 0; i--) {
      HistoryEntry entry = before.get(i);
      if ((entry instanceof HistoryEntry.StepFailed step && step.nextAt() == 0)
          || (entry instanceof HistoryEntry.ChildEnded child
              && child.state() != JobState.SUCCEEDED)) {
        return i;
      }
    }
    return before.size();
  }

  private boolean isUndone() {
    boolean givenUp = false;
    for (HistoryEntry entry : before) {
      boolean ran =
          entry instanceof HistoryEntry.StepDone
              || entry instanceof HistoryEntry.StepFailed
              || entry instanceof HistoryEntry.StepBegun;
      if (entry instanceof HistoryEntry.CancelRequested || (givenUp && ran)) {
        return true;
      }
      givenUp |= entry instanceof HistoryEntry.GivenUp;
    }
    return false;
  }

  /** What the code saw that it sees again: as far as what it remembers says the same. */
  private List<String> stillSeen(WorkflowRecord record) {
    List<String> told = record.interpret().seen;
    List<String> still = new ArrayList<>();
    for (int i = 0; i < Math.min(told.size(), confirmed.size()); i++) {
      if (!WorkflowInterpreter.agree(told.subList(0, i + 1), confirmed)) {
        break;
      }
      still.add(confirmed.get(i));
    }
    return still;
  }

  private static void said(boolean right, WorkflowRecord record, String what) {
    Violation.check(right, Guarantee.REPLAY, () -> record + " was replayed and " + what);
  }
}
