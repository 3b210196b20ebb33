package dev.carillon;

import java.util.Map;

/**
 * What a node has counted and measured since it started, by the names that {@link
 * dev.carillon.api.Metrics} is told too. A name that nothing was counted under is not there.
 *
 * @param counts how often something happened
 * @param times how long something took
 */
public record CarillonFigures(Map<String, Long> counts, Map<String, Time> times) {

  /**
   * How long something took.
   *
   * @param count how often
   * @param nanos all of them together
   */
  public record Time(long count, long nanos) {}

  public CarillonFigures {
    counts = Map.copyOf(counts);
    times = Map.copyOf(times);
  }

  /**
   * How often something happened.
   *
   * @param name what
   * @return 0 where it never did
   */
  public long count(String name) {
    return counts.getOrDefault(name, 0L);
  }

  /**
   * How long something took.
   *
   * @param name what
   * @return nothing where it never did
   */
  public Time time(String name) {
    return times.getOrDefault(name, new Time(0, 0));
  }
}
