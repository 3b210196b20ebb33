package dev.carillon.engine.dispatch;

import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The overdue jobs of a lane, by priority, then due time. Those at the front have their bodies; the
 * rest behind them may have lost theirs, which are fetched again as they come near. So a backlog of
 * any size costs its jobs and not what they carry.
 *
 * <p>Jobs whose bodies are on their way stand nowhere: they come back through {@link #add}, and one
 * whose body cannot be read holds up nobody. A job that comes back with its body has a place at the
 * front, however full that is: the line would otherwise let go of the body and read it again, and
 * no job of the line would ever start.
 */
final class LateLine {
  private static final int FRONT_JOBS = 16_384;

  private final ReadyLine front = new ReadyLine();
  private final ReadyLine rest = new ReadyLine();
  private final PayloadMemory payloads;

  /** Jobs of the front whose bodies are on their way. */
  private int fetching;

  /** Of the front, also of those on their way. */
  private long frontBytes;

  /** The job whose body has just come, until it stands in line. */
  private @Nullable NodeJob returning;

  LateLine(PayloadMemory payloads) {
    this.payloads = payloads;
  }

  void add(NodeJob job) {
    boolean hasPlace = job == returning && !job.isStripped();
    returning = null;
    NodeJob behind = rest.peek();
    boolean after = behind != null && ReadyLine.compare(job, behind) > 0;
    if (hasPlace) {
      addToFront(job);
    } else if (after || job.isStripped()) {
      addToRest(job);
    } else {
      boolean spills = !front.isEmpty() && isFull(2);
      addToFront(job);
      if (spills) {
        spill();
      }
    }
  }

  private void addToFront(NodeJob job) {
    front.add(job);
    count(job.bodyBytes);
  }

  private void addToRest(NodeJob job) {
    payloads.letGo(job);
    rest.add(job);
  }

  private void count(long moreBytes) {
    frontBytes += moreBytes;
    payloads.front(moreBytes);
  }

  private boolean isFull(int times) {
    return front.size() + fetching >= times * FRONT_JOBS
        || frontBytes >= times * payloads.frontBytesOfALine();
  }

  /** Many came that stand before the rest: the first of the front stay, the others step back. */
  private void spill() {
    List<NodeJob> inOrder = new ArrayList<>(front.size());
    for (NodeJob job = poll(); job != null; job = poll()) {
      inOrder.add(job);
    }
    for (NodeJob job : inOrder) {
      if (front.isEmpty() || !isFull(1)) {
        addToFront(job);
      } else {
        addToRest(job);
      }
    }
  }

  /**
   * Lets the first of the rest come to the front once half of it is gone.
   *
   * @return how many have left the line until their body is here
   */
  int refill(Lane lane) {
    if (rest.isEmpty() || 2 * (front.size() + fetching) > FRONT_JOBS) {
      return 0;
    }
    if (2 * frontBytes > payloads.frontBytesOfALine()) {
      return 0;
    }
    int left = 0;
    for (NodeJob job = rest.peek(); job != null && mayComeForward(); job = rest.peek()) {
      var unused = rest.poll();
      if (job.isStripped() && job.phase() == NodeJob.Phase.READY) {
        fetching++;
        count(job.bodyBytes);
        payloads.await(job, lane);
        left++;
      } else {
        addToFront(job);
      }
    }
    return left;
  }

  /** One always may, so that a line goes on whatever the others took. */
  private boolean mayComeForward() {
    return front.size() + fetching == 0 || (!isFull(1) && payloads.frontHasRoom());
  }

  /**
   * The body of a job of this line is here: the job is about to stand in line again, or is gone.
   */
  void fetched(NodeJob job) {
    gaveUp(job);
    returning = job;
  }

  /** A job of this line no longer waits for its body in a place at the front. */
  void gaveUp(NodeJob job) {
    fetching--;
    count(-job.bodyBytes);
  }

  boolean remove(NodeJob job) {
    if (front.remove(job)) {
      count(-job.bodyBytes);
      return true;
    }
    return rest.remove(job);
  }

  /** How many go before the job, of the first {@code most} that are looked at. */
  int before(NodeJob job, int most) {
    return front.before(job, most) + rest.before(job, Math.max(0, most - front.size()));
  }

  /** In no order that means anything. */
  void forEach(Consumer<NodeJob> action) {
    front.forEach(action);
    rest.forEach(action);
  }

  /** Whether nothing can be taken from it now. */
  boolean isEmpty() {
    return front.isEmpty();
  }

  int size() {
    return front.size() + rest.size();
  }

  /** The job that {@link #poll} would take. */
  @Nullable NodeJob peek() {
    return front.peek();
  }

  @Nullable NodeJob poll() {
    NodeJob job = front.poll();
    if (job != null) {
      count(-job.bodyBytes);
    }
    return job;
  }
}
