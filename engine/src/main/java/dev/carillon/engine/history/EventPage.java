package dev.carillon.engine.history;

import dev.carillon.api.JobEvent;
import dev.carillon.api.Limits;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a journal tells of one job, oldest first: of all events, which are counted from 0, those in
 * a range. A recurring job has more of them in a year than anybody wants in memory.
 */
public final class EventPage {

  /**
   * Which events are kept.
   *
   * @param before the count of the first that is not
   * @param most how many; the newest of them
   */
  public record Range(int before, int most) {
    /** All of them, however many. */
    public static final Range ALL = new Range(Integer.MAX_VALUE, Integer.MAX_VALUE);

    /** As many as one answer has, the newest. */
    public static final Range NEWEST = before(Integer.MAX_VALUE);

    /** As many as one answer has, before one of them. */
    public static Range before(int count) {
      return new Range(count, Limits.HISTORY_MAX_EVENTS);
    }
  }

  private final Range range;
  private final Deque<JobEvent> kept = new ArrayDeque<>(4);

  /** How many are older than those kept. */
  private int older;

  private @Nullable Instant lastDropped;
  private int total;

  public EventPage(Range range) {
    this.range = range;
  }

  public int total() {
    return total;
  }

  public int older() {
    return older;
  }

  public List<JobEvent> events() {
    return List.copyOf(kept);
  }

  public void addAll(List<JobEvent> events) {
    events.forEach(this::add);
  }

  private void add(JobEvent event) {
    if (total++ >= range.before()) {
      return;
    }
    kept.addLast(event);
    if (kept.size() > range.most()) {
      lastDropped = kept.removeFirst().at();
      older++;
    }
  }

  /** Those from one on, as far as they are kept. */
  public List<JobEvent> since(int count) {
    return kept.stream().skip(Math.max(0, count - older)).toList();
  }

  /** Lets go of those from one on: they are told again. */
  public void cut(int count) {
    while (!kept.isEmpty() && older + kept.size() > count) {
      kept.removeLast();
    }
    older = Math.min(older, count);
    total = Math.min(total, count);
  }

  /** Whether an event was told; one that may be older than those kept was. */
  public boolean has(JobEvent event) {
    return kept.contains(event) || (lastDropped != null && !event.at().isAfter(lastDropped));
  }
}
