package dev.carillon;

import dev.carillon.api.JobMeter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Adds up the figures of one type, queue and namespace. One thread writes, any thread reads. */
final class JobTally implements JobMeter {
  private final Tags tags;
  private final JobMeter next;
  private final Histogram lateness = new Histogram();
  private final Histogram duration = new Histogram();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong dead = new AtomicLong();

  record Tags(String type, String queue, String namespace) {}

  JobTally(Tags tags, JobMeter next) {
    this.tags = tags;
    this.next = next;
  }

  @Override
  public void started(long latenessNanos) {
    lateness.add(latenessNanos);
    next.started(latenessNanos);
  }

  @Override
  public void returned(long nanos) {
    duration.add(nanos);
    next.returned(nanos);
  }

  @Override
  public void failed() {
    failed.incrementAndGet();
    next.failed();
  }

  @Override
  public void died() {
    dead.incrementAndGet();
    next.died();
  }

  JobFigures figures() {
    return new JobFigures(
        tags.type(),
        tags.queue(),
        tags.namespace(),
        lateness.spread(),
        duration.spread(),
        failed.get(),
        dead.get());
  }

  /** Counts by buckets, and the sum in the last place; without locks, since one thread writes. */
  private static final class Histogram {
    private static final long[] BOUNDS =
        Spread.bounds().stream().mapToLong(Long::longValue).toArray();

    private final AtomicLongArray cells = new AtomicLongArray(BOUNDS.length + 2);

    void add(long nanos) {
      int found = Arrays.binarySearch(BOUNDS, nanos);
      plus(found >= 0 ? found : -found - 1, 1);
      plus(BOUNDS.length + 1, nanos);
    }

    private void plus(int cell, long value) {
      cells.setOpaque(cell, cells.getPlain(cell) + value);
    }

    Spread spread() {
      List<Long> within = new ArrayList<>(BOUNDS.length);
      long count = 0;
      for (int i = 0; i < BOUNDS.length; i++) {
        count += cells.getOpaque(i);
        within.add(count);
      }
      count += cells.getOpaque(BOUNDS.length);
      return new Spread(count, cells.getOpaque(BOUNDS.length + 1), within);
    }
  }
}
