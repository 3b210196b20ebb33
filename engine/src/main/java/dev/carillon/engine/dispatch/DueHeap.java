package dev.carillon.engine.dispatch;

import dev.carillon.engine.shard.NodeJob;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Jobs by due time: a binary heap in two arrays, 12 bytes a job. An entry is valid while its job
 * still waits for exactly that time; others are passed over when they come up, or swept out.
 */
final class DueHeap {
  private static final int SMALLEST = 8;

  /**
   * Under which due time its lane stands in the queue; {@link Long#MAX_VALUE} where it does not.
   */
  long placeMicros = Long.MAX_VALUE;

  /** Whether its lane takes turns with others whose jobs are due. */
  boolean inTurn;

  private long[] dues = new long[SMALLEST];
  private @Nullable NodeJob[] jobs = new @Nullable NodeJob[SMALLEST];
  private int size;

  /** The first due time, {@link Long#MAX_VALUE} when empty. */
  long firstMicros() {
    return size == 0 ? Long.MAX_VALUE : dues[0];
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  void add(NodeJob job) {
    if (size == dues.length) {
      dues = Arrays.copyOf(dues, size + (size >> 1));
      jobs = Arrays.copyOf(jobs, dues.length);
    }
    siftUp(size++, job.dueMicros, job);
  }

  /** Takes the first. */
  @Nullable NodeJob poll() {
    NodeJob first = jobs[0];
    removeHead();
    return first;
  }

  private boolean valid(int i) {
    NodeJob job = jobs[i];
    return job != null && job.phase() == NodeJob.Phase.SCHEDULED && job.dueMicros == dues[i];
  }

  /** Drops what is not valid from the front; how many those are. */
  int dropStaleHead() {
    int dropped = 0;
    for (; size > 0 && !valid(0); dropped++) {
      removeHead();
    }
    return dropped;
  }

  private void removeHead() {
    size--;
    long due = dues[size];
    NodeJob job = jobs[size];
    jobs[size] = null;
    if (size > 0 && job != null) {
      siftDown(0, due, job);
    }
    if (dues.length > SMALLEST && size < dues.length / 4) {
      dues = Arrays.copyOf(dues, Math.max(SMALLEST, dues.length / 2));
      jobs = Arrays.copyOf(jobs, dues.length);
    }
  }

  /** Drops what is not valid, and what was seen before. */
  void sweep() {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      NodeJob job = jobs[i];
      if (job != null && valid(i) && !job.seen) {
        job.seen = true; // a job that was taken back and waits again stands here twice
        dues[kept] = dues[i];
        jobs[kept++] = job;
      }
    }
    Arrays.fill(jobs, kept, size, null);
    size = kept;
    for (int i = size / 2 - 1; i >= 0; i--) {
      NodeJob job = jobs[i];
      if (job != null) {
        siftDown(i, dues[i], job);
      }
    }
  }

  /** The sweep is over. */
  void forgetSeen() {
    for (int i = 0; i < size; i++) {
      NodeJob job = jobs[i];
      if (job != null) {
        job.seen = false;
      }
    }
  }

  private void siftUp(int at, long due, NodeJob job) {
    int i = at;
    while (i > 0) {
      int parent = (i - 1) >>> 1;
      if (dues[parent] <= due) {
        break;
      }
      dues[i] = dues[parent];
      jobs[i] = jobs[parent];
      i = parent;
    }
    dues[i] = due;
    jobs[i] = job;
  }

  private void siftDown(int at, long due, NodeJob job) {
    int i = at;
    int half = size >>> 1;
    while (i < half) {
      int child = 2 * i + 1;
      if (child + 1 < size && dues[child + 1] < dues[child]) {
        child++;
      }
      if (due <= dues[child]) {
        break;
      }
      dues[i] = dues[child];
      jobs[i] = jobs[child];
      i = child;
    }
    dues[i] = due;
    jobs[i] = job;
  }
}
