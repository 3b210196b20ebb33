package dev.carillon.engine.job;

import java.util.List;

/**
 * What the code of a workflow did since its last checkpoint: it is written in one operation, all of
 * it or nothing.
 *
 * @param entries in the order of the code
 * @param children to be scheduled; each gets its place and its {@link HistoryEntry.ChildStarted}
 *     from the node
 */
public record WorkflowTurn(List<HistoryEntry> entries, List<ChildStart> children) {
  /** Nothing. */
  public static final WorkflowTurn NOTHING = new WorkflowTurn(List.of(), List.of());

  public WorkflowTurn {
    entries = List.copyOf(entries);
    children = List.copyOf(children);
  }

  /** A child that the call of this number starts. */
  public record ChildStart(int call, JobSpec spec) {}

  /** Whether there is nothing to write. */
  public boolean isEmpty() {
    return entries.isEmpty() && children.isEmpty();
  }
}
