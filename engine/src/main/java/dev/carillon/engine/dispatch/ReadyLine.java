package dev.carillon.engine.dispatch;

import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayDeque;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Due jobs by priority, then due time to the millisecond, then as they came. Most arrive in that
 * order and stand in a plain queue; only one that should overtake the last goes into a heap.
 */
final class ReadyLine {
  private static final long SLACK_MICROS = 1000;

  private final ArrayDeque<NodeJob> inOrder = new ArrayDeque<>();
  private final PriorityQueue<NodeJob> overtaking = new PriorityQueue<>(ReadyLine::compare);

  /** By priority, then due time; written out because every start pays for it. */
  static int compare(NodeJob a, NodeJob b) {
    if (a.priority != b.priority) {
      return a.priority > b.priority ? -1 : 1;
    }
    int byDue = Long.compare(a.dueMicros, b.dueMicros);
    return byDue != 0 ? byDue : Long.compare(a.number, b.number);
  }

  private static boolean mayFollow(NodeJob last, NodeJob job) {
    return last.priority == job.priority
        ? last.dueMicros <= job.dueMicros + SLACK_MICROS
        : last.priority > job.priority;
  }

  void add(NodeJob job) {
    NodeJob last = inOrder.peekLast();
    if (last == null || mayFollow(last, job)) {
      inOrder.addLast(job);
    } else {
      overtaking.add(job);
    }
  }

  /** Takes the job out, wherever it stands; looks at all of them. */
  boolean remove(NodeJob job) {
    return inOrder.removeFirstOccurrence(job) || overtaking.remove(job);
  }

  boolean isEmpty() {
    return inOrder.isEmpty() && overtaking.isEmpty();
  }

  int size() {
    return inOrder.size() + overtaking.size();
  }

  /** The job that {@link #poll} would take. */
  @Nullable NodeJob peek() {
    NodeJob first = inOrder.peekFirst();
    NodeJob other = overtaking.peek();
    return other == null || (first != null && compare(first, other) <= 0) ? first : other;
  }

  /** How many go before the job, of the first {@code most} that are looked at. */
  int before(NodeJob job, int most) {
    int before = 0;
    int left = most;
    for (NodeJob each : inOrder) {
      if (left-- <= 0) {
        return before;
      }
      before += isBefore(each, job) ? 1 : 0;
    }
    for (NodeJob each : overtaking) {
      if (left-- <= 0) {
        return before;
      }
      before += isBefore(each, job) ? 1 : 0;
    }
    return before;
  }

  /** One that has ended or starts leaves its place only when it would come forward. */
  static boolean isBefore(NodeJob each, NodeJob job) {
    return compare(each, job) < 0 && each.isIdle(NodeJob.Phase.READY);
  }

  /** In no order that means anything. */
  void forEach(Consumer<NodeJob> action) {
    inOrder.forEach(action);
    overtaking.forEach(action);
  }

  @Nullable NodeJob poll() {
    NodeJob first = inOrder.peekFirst();
    NodeJob other = overtaking.peek();
    if (other == null || (first != null && compare(first, other) <= 0)) {
      return inOrder.pollFirst();
    }
    return overtaking.poll();
  }
}
