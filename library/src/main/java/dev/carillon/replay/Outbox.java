package dev.carillon.replay;

import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowTurn.ChildStart;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a workflow did that is not durable yet, in order. One turn of it is under way at a time; a
 * turn always takes all there is, so what stands before an entry is written no later than it.
 * Belongs to whoever holds the run's lock.
 */
final class Outbox {
  private final List<HistoryEntry> entries = new ArrayList<>();
  private final List<ChildStart> children = new ArrayList<>();
  private long added;
  private long wanted;
  private long sent;
  private long durable;
  private boolean underWay;

  /** Keeps an entry; says up to where the outbox must be durable for the entry to be. */
  long add(HistoryEntry entry) {
    entries.add(entry);
    return ++added;
  }

  long add(ChildStart child) {
    children.add(child);
    return ++added;
  }

  /** All that is kept is to be written now; says up to where the outbox must be durable then. */
  long want() {
    wanted = added;
    return added;
  }

  boolean isDurable(long upTo) {
    return durable >= upTo;
  }

  boolean isEmpty() {
    return entries.isEmpty() && children.isEmpty();
  }

  /** Whether it has a child whose name has to be found before it is written. */
  boolean hasNames() {
    for (ChildStart child : children) {
      if (child.isNamed()) {
        return true;
      }
    }
    return false;
  }

  /** Whether no turn is under way and none is wanted. */
  boolean isIdle() {
    return !underWay && wanted <= sent;
  }

  /** The turn to write now, if there is one. */
  @Nullable WorkflowTurn next() {
    if (underWay || wanted <= sent) {
      return null;
    }
    underWay = true;
    return drain();
  }

  /** The turn that was under way is durable. */
  void written() {
    underWay = false;
    durable = sent;
  }

  /** All that is left, for the end of an activation. */
  WorkflowTurn take() {
    WorkflowTurn turn = drain();
    durable = sent;
    return turn;
  }

  private WorkflowTurn drain() {
    WorkflowTurn turn = isEmpty() ? WorkflowTurn.NOTHING : new WorkflowTurn(entries, children);
    entries.clear();
    children.clear();
    sent = added;
    return turn;
  }
}
