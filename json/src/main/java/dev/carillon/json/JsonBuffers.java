package dev.carillon.json;

import java.util.concurrent.atomic.AtomicReferenceArray;
import tools.jackson.core.util.BufferRecycler;
import tools.jackson.core.util.RecyclerPool;

/**
 * Jackson's buffers, kept in a few places. A thread looks into one of them, chosen by its id, and
 * makes new buffers where it is empty: virtual threads come and go, so none may have buffers of its
 * own, and a common queue is what they would wait for.
 */
final class JsonBuffers implements RecyclerPool<BufferRecycler> {
  private static final long serialVersionUID = 1;
  private static final int PLACES = 16;

  /** Places are this far apart, so that neighbours do not share a cache line. */
  private static final int SPREAD = 16;

  private final transient AtomicReferenceArray<BufferRecycler> places =
      new AtomicReferenceArray<>(PLACES * SPREAD);

  private static int place() {
    long mixed = Thread.currentThread().threadId() * 0x9E3779B97F4A7C15L;
    return (int) (mixed >>> 60) * SPREAD;
  }

  @Override
  public BufferRecycler acquirePooled() {
    BufferRecycler kept = places.getAndSet(place(), null);
    return kept != null ? kept : new BufferRecycler();
  }

  @Override
  public void releasePooled(BufferRecycler used) {
    places.setRelease(place(), used);
  }

  @Override
  public int pooledCount() {
    int count = 0;
    for (int i = 0; i < PLACES; i++) {
      count += places.get(i * SPREAD) != null ? 1 : 0;
    }
    return count;
  }

  @Override
  public boolean clear() {
    for (int i = 0; i < PLACES; i++) {
      places.set(i * SPREAD, null);
    }
    return true;
  }
}
