package dev.carillon.engine.query;

import dev.carillon.api.JobInfo;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The newest of the ended jobs seen so far, as many as a page holds. */
public final class NewestJobs {
  private final int limit;
  private final long fromMicros;
  private final long toMicros;
  private final @Nullable Place after;
  private final TreeMap<Place, JobInfo> page = new TreeMap<>();

  /**
   * Where an ended job stands in the order: the newest first. It never changes, so a place stays
   * what it is however jobs come and go.
   *
   * @param occurrence of an occurrence that the recurring job ran itself, which one; 0 for a job
   */
  public record Place(long endMicros, JobRef ref, long occurrence) implements Comparable<Place> {
    /** That of a job. */
    Place(long endMicros, JobRef ref) {
      this(endMicros, ref, 0);
    }

    /** Behind all that ended later than {@code endMicros}, before all others. */
    public static Place before(long endMicros) {
      return new Place(endMicros + 1, new JobRef(new ShardId(0, 1, 1), 0));
    }

    @Override
    public int compareTo(Place other) {
      int byEnd = Long.compare(other.endMicros, endMicros);
      if (byEnd != 0) {
        return byEnd;
      }
      int byShard = other.ref.shard().compareTo(ref.shard());
      if (byShard != 0) {
        return byShard;
      }
      int byNumber = Long.compare(other.ref.number(), ref.number());
      return byNumber != 0 ? byNumber : Long.compare(other.occurrence, occurrence);
    }
  }

  /**
   * An empty page.
   *
   * @param fromMicros jobs that ended earlier are left out
   * @param toMicros jobs that ended then or later are left out
   * @param after the last place of the page before, null for the first
   */
  public NewestJobs(int limit, long fromMicros, long toMicros, @Nullable Place after) {
    this.limit = limit;
    this.fromMicros = fromMicros;
    this.toMicros = toMicros;
    this.after = after;
  }

  int limit() {
    return limit;
  }

  /** Whether jobs that ended between these times may still come onto the page. */
  public boolean mayTake(long firstEndMicros, long lastEndMicros) {
    return lastEndMicros >= fromMicros
        && firstEndMicros < toMicros
        && (after == null || firstEndMicros <= after.endMicros())
        && (!isFull() || lastEndMicros >= page.lastKey().endMicros());
  }

  boolean takes(Place place) {
    return place.endMicros() >= fromMicros
        && place.endMicros() < toMicros
        && (after == null || after.compareTo(place) < 0)
        && (!isFull() || place.compareTo(page.lastKey()) < 0);
  }

  /** Puts the job on the page, if it has a place there. */
  void offer(Place place, JobInfo info) {
    if (takes(place)) {
      page.put(place, info);
      if (page.size() > limit) {
        var unused = page.pollLastEntry();
      }
    }
  }

  /** Whether there are as many as were asked for. */
  public boolean isFull() {
    return page.size() >= limit;
  }

  /** The jobs, newest first. */
  public List<JobInfo> items() {
    return new ArrayList<>(page.values());
  }

  /** Those in front of a place, newest first. */
  public List<JobInfo> itemsBefore(Place place) {
    return new ArrayList<>(page.headMap(place, true).values());
  }

  /** Whether a page that goes on behind {@code place} goes on behind this one's beginning. */
  public boolean isBehindBegin(Place place) {
    return after == null || after.compareTo(place) < 0;
  }

  /** The place of the last one, null where there is none. */
  public @Nullable Place last() {
    Map.Entry<Place, JobInfo> last = page.lastEntry();
    return last == null ? null : last.getKey();
  }
}
