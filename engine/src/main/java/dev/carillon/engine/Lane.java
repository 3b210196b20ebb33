package dev.carillon.engine;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The due jobs of one namespace and queue, by priority, then due time. Work that is overdue by more
 * than a few seconds stands in a part of its own that gets at most every other turn, so that a
 * backlog does not delay what has just become due.
 */
final class Lane {
  private static final Comparator<ShardJob> ORDER =
      Comparator.<ShardJob>comparingInt(job -> -job.priority)
          .thenComparingLong(job -> job.dueMicros)
          .thenComparingLong(job -> job.number);

  final Gate namespaceGate;
  final Gate queueGate;

  /** Whether it stands in the dispatcher's ring. */
  boolean active;

  private final PriorityQueue<ShardJob> fresh = new PriorityQueue<>(ORDER);
  private final PriorityQueue<ShardJob> late = new PriorityQueue<>(ORDER);
  private boolean lateHadTurn;

  Lane(Gate namespaceGate, Gate queueGate) {
    this.namespaceGate = namespaceGate;
    this.queueGate = queueGate;
  }

  void add(ShardJob job, boolean overdue) {
    (overdue ? late : fresh).add(job);
  }

  boolean isEmpty() {
    return fresh.isEmpty() && late.isEmpty();
  }

  int size() {
    return fresh.size() + late.size();
  }

  boolean hasRoom() {
    return namespaceGate.hasRoom() && queueGate.hasRoom();
  }

  /** The next job in turn. */
  @Nullable ShardJob poll() {
    boolean lateTurn = fresh.isEmpty() || (!late.isEmpty() && !lateHadTurn);
    lateHadTurn = lateTurn;
    return lateTurn ? late.poll() : fresh.poll();
  }
}
