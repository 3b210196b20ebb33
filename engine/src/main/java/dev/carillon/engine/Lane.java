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
  private static final Comparator<ShardJob> ORDER = Lane::compare;

  final String namespace;
  final String queue;
  final Gate namespaceGate;
  final Gate queueGate;

  /** Whether it stands in the dispatcher's ring. */
  boolean active;

  private final PriorityQueue<ShardJob> fresh = new PriorityQueue<>(ORDER);
  private final PriorityQueue<ShardJob> late = new PriorityQueue<>(ORDER);
  private boolean lateHadTurn;

  Lane(String namespace, String queue, Dispatcher dispatcher) {
    this.namespace = namespace;
    this.queue = queue;
    this.namespaceGate = dispatcher.namespace(namespace);
    this.queueGate = dispatcher.queue(queue);
  }

  /** By priority, then due time; written out because every start pays for it. */
  private static int compare(ShardJob a, ShardJob b) {
    if (a.priority != b.priority) {
      return a.priority > b.priority ? -1 : 1;
    }
    int byDue = Long.compare(a.dueMicros, b.dueMicros);
    return byDue != 0 ? byDue : Long.compare(a.number, b.number);
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
