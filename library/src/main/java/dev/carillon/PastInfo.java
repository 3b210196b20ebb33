package dev.carillon;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Throughput, backlog and lateness of all nodes over a while, from what each remembers in memory.
 *
 * @param span how far back
 * @param slots the intervals that are over, the oldest first; one in which no node told anything is
 *     left out
 * @param nodes the ids of the nodes that answered, the asked one first
 * @param silent the ids of the nodes that gave no answer in time: what they measured since their
 *     last answer is missing
 */
public record PastInfo(Span span, List<Slot> slots, List<String> nodes, List<String> silent) {

  /** How far back, and how finely. The codes cross the wire between nodes: they never change. */
  public enum Span {
    /** Each second. */
    TEN_MINUTES(1, Duration.ofMinutes(10), Duration.ofSeconds(1)),
    /** Each ten seconds. */
    TWO_HOURS(2, Duration.ofHours(2), Duration.ofSeconds(10)),
    /** Each five minutes. */
    THREE_DAYS(3, Duration.ofDays(3), Duration.ofMinutes(5));

    private final int code;
    private final Duration length;
    private final Duration step;

    Span(int code, Duration length, Duration step) {
      this.code = code;
      this.length = length;
      this.step = step;
    }

    int code() {
      return code;
    }

    /** The span of a code; null where there is none, of a later version say. */
    static @Nullable Span ofCode(int code) {
      for (Span each : values()) {
        if (each.code == code) {
          return each;
        }
      }
      return null;
    }

    /**
     * How far back.
     *
     * @return the length of all intervals together
     */
    public Duration length() {
      return length;
    }

    /**
     * How finely.
     *
     * @return the length of an interval
     */
    public Duration step() {
      return step;
    }
  }

  /**
   * What happened in an interval.
   *
   * @param started attempts that started
   * @param ended jobs that ended, each occurrence of a recurring job among them
   * @param failed attempts that failed
   * @param dead jobs that became dead letters
   */
  public record Sums(long started, long ended, long failed, long dead) {}

  /**
   * The most that was there at a look, of each node.
   *
   * @param ready due jobs that wait for a slot
   * @param running attempts under way
   * @param blocked due jobs that no handler fits
   * @param pending jobs in memory that have not ended
   */
  public record Levels(long ready, long running, long blocked, long pending) {}

  /**
   * An interval.
   *
   * @param from where it begins, by the clocks of the nodes
   * @param gathered for how long the sums were gathered; more than a step where a node was late
   * @param nodes how many nodes told of it
   * @param sums what happened
   * @param levels what there was
   * @param lateness how late attempts started, by queue: counts for each of {@link
   *     Spread#bounds()}, and one for what is longer. A node tells eight queues of an interval
   *     apart, the rest is under {@code others}
   */
  public record Slot(
      Instant from,
      Duration gathered,
      int nodes,
      Sums sums,
      Levels levels,
      Map<String, List<Integer>> lateness) {

    /** Makes a copy that nobody changes. */
    public Slot {
      lateness = Map.copyOf(lateness);
    }
  }

  /** Makes copies that nobody changes. */
  public PastInfo {
    slots = List.copyOf(slots);
    nodes = List.copyOf(nodes);
    silent = List.copyOf(silent);
  }
}
