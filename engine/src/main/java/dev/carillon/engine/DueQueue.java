package dev.carillon.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Jobs of loaded shards by due time: a binary heap in two arrays, 12 bytes a job. An entry is valid
 * while its job still waits for exactly that time; others are passed over when they come up and
 * swept out once they are the larger part.
 */
final class DueQueue {
  private static final int SMALLEST = 64;

  private long[] dues = new long[SMALLEST];
  private @Nullable ShardJob[] jobs = new @Nullable ShardJob[SMALLEST];
  private int size;
  private int stale;

  /** The earliest due time, {@link Long#MAX_VALUE} when empty. */
  long nextMicros() {
    dropStaleHead();
    return size == 0 ? Long.MAX_VALUE : dues[0];
  }

  int size() {
    return size;
  }

  void add(ShardJob job) {
    if (size == dues.length) {
      dues = Arrays.copyOf(dues, size + (size >> 1));
      jobs = Arrays.copyOf(jobs, dues.length);
    }
    siftUp(size++, job.dueMicros, job);
  }

  /** The next job due at or before {@code nowMicros}, or null. */
  @Nullable ShardJob poll(long nowMicros) {
    dropStaleHead();
    if (size == 0 || dues[0] > nowMicros) {
      return null;
    }
    ShardJob first = jobs[0];
    removeHead();
    return first;
  }

  /** Says that an entry may have become invalid: its job left the fold or moved. */
  void noteStale() {
    stale++;
    if (stale > SMALLEST && stale > size / 2) {
      sweep();
    }
  }

  private boolean valid(int i) {
    ShardJob job = jobs[i];
    return job != null && job.phase == ShardJob.Phase.SCHEDULED && job.dueMicros == dues[i];
  }

  private void dropStaleHead() {
    while (size > 0 && !valid(0)) {
      removeHead();
      stale = Math.max(0, stale - 1);
    }
  }

  private void removeHead() {
    size--;
    long due = dues[size];
    ShardJob job = jobs[size];
    jobs[size] = null;
    if (size > 0 && job != null) {
      siftDown(0, due, job);
    }
    if (dues.length > SMALLEST && size < dues.length / 4) {
      dues = Arrays.copyOf(dues, Math.max(SMALLEST, dues.length / 2));
      jobs = Arrays.copyOf(jobs, dues.length);
    }
  }

  private void sweep() {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (valid(i)) {
        dues[kept] = dues[i];
        jobs[kept++] = jobs[i];
      }
    }
    Arrays.fill(jobs, kept, size, null);
    size = kept;
    stale = 0;
    for (int i = size / 2 - 1; i >= 0; i--) {
      ShardJob job = jobs[i];
      if (job != null) {
        siftDown(i, dues[i], job);
      }
    }
  }

  private void siftUp(int at, long due, ShardJob job) {
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

  private void siftDown(int at, long due, ShardJob job) {
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
