package dev.carillon.engine.dispatch;

import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Jobs of loaded shards by due time, each lane in a {@link DueHeap} of its own. Lanes with due jobs
 * take turns, so that a million jobs of one that become due at once do not keep those of another
 * from coming up.
 */
public final class DueQueue {
  private static final int SWEEP_FROM = 64;

  /**
   * In the order they came: of a job that stands in two, a sweep keeps the first, and that must not
   * differ from one process to another.
   */
  private final Map<@Nullable Lane, DueHeap> heaps = new LinkedHashMap<>();

  /** Lanes by the due time of their first job, some of them by one that it has no more. */
  private final PriorityQueue<Place> places = new PriorityQueue<>();

  /** Lanes whose first job was due when somebody looked last. */
  private final ArrayDeque<DueHeap> turns = new ArrayDeque<>();

  private @Nullable Lane lastLane;
  private @Nullable DueHeap lastHeap;
  private int size;
  private int stale;

  /** A lane waits for the time of its first job. */
  private record Place(long dueMicros, DueHeap heap) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      return Long.compare(dueMicros, other.dueMicros);
    }
  }

  /** The earliest due time, {@link Long#MAX_VALUE} when empty. */
  public long nextMicros() {
    Place first = firstPlace();
    long next = first != null ? first.dueMicros() : Long.MAX_VALUE;
    for (DueHeap heap : turns) {
      dropStale(heap);
      next = Math.min(next, heap.firstMicros());
    }
    return next;
  }

  /** The lane with the earliest job, if it is where it says it is; null where there is none. */
  private @Nullable Place firstPlace() {
    while (true) {
      Place place = places.peek();
      if (place == null) {
        return null;
      }
      DueHeap heap = place.heap();
      dropStale(heap);
      if (heap.placeMicros == place.dueMicros() && heap.firstMicros() == place.dueMicros()) {
        return place;
      }
      places.remove();
      if (heap.placeMicros == place.dueMicros()) {
        heap.placeMicros = Long.MAX_VALUE;
        putInPlace(heap);
      }
    }
  }

  private void putInPlace(DueHeap heap) {
    if (heap.firstMicros() < heap.placeMicros) {
      heap.placeMicros = heap.firstMicros();
      places.add(new Place(heap.placeMicros, heap));
    }
  }

  private void dropStale(DueHeap heap) {
    int dropped = heap.dropStaleHead();
    size -= dropped;
    stale = Math.max(0, stale - dropped);
  }

  public int size() {
    return size;
  }

  public void add(NodeJob job) {
    DueHeap heap = heapOf(Lane.of(job));
    heap.add(job);
    size++;
    if (!heap.inTurn) {
      putInPlace(heap);
    }
  }

  /** Most jobs have the lane of the job before. */
  private DueHeap heapOf(@Nullable Lane lane) {
    DueHeap last = lastHeap;
    if (last != null && lane == lastLane) {
      return last;
    }
    DueHeap found = heaps.computeIfAbsent(lane, l -> new DueHeap());
    lastLane = lane;
    lastHeap = found;
    return found;
  }

  /** The next job due at or before {@code nowMicros}, in turn of the lanes; null without any. */
  public @Nullable NodeJob poll(long nowMicros) {
    for (Place place = firstPlace();
        place != null && place.dueMicros() <= nowMicros;
        place = firstPlace()) {
      places.remove();
      place.heap().placeMicros = Long.MAX_VALUE;
      place.heap().inTurn = true;
      turns.add(place.heap());
    }
    while (!turns.isEmpty()) {
      DueHeap heap = turns.removeFirst();
      dropStale(heap);
      NodeJob job = heap.firstMicros() <= nowMicros ? heap.poll() : null;
      size -= job != null ? 1 : 0;
      if (job != null && heap.firstMicros() <= nowMicros) {
        turns.add(heap);
      } else {
        heap.inTurn = false;
        putInPlace(heap);
      }
      if (job != null) {
        return job;
      }
    }
    return null;
  }

  /** Says that an entry may have become invalid: its job left the fold or moved. */
  public void noteStale() {
    stale++;
    if (stale > SWEEP_FROM && stale > size / 2) {
      sweep();
    }
  }

  private void sweep() {
    size = 0;
    for (DueHeap heap : heaps.values()) {
      heap.sweep();
      size += heap.size();
    }
    heaps.values().forEach(DueHeap::forgetSeen);
    forgetEmptyLanes();
    stale = 0;
  }

  public void forgetEmptyLanes() {
    heaps.values().removeIf(heap -> heap.isEmpty() && !heap.inTurn);
    lastHeap = null;
  }
}
