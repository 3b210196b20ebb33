package dev.carillon;

import java.util.List;

/**
 * How long something took, each time: a histogram with buckets at 1, 2 and 5 of every power of ten,
 * from 100 µs to 10,000 s.
 *
 * @param count how often it was measured
 * @param nanos all times together
 * @param within how many of them took at most {@link #bounds()}, for each bound; longer ones are in
 *     {@code count} alone
 */
public record Spread(long count, long nanos, List<Long> within) {
  private static final List<Long> BOUNDS = makeBounds();

  public Spread {
    within = List.copyOf(within);
  }

  /**
   * The bounds of the buckets.
   *
   * @return in nanoseconds, the smallest first
   */
  public static List<Long> bounds() {
    return BOUNDS;
  }

  /**
   * The time within which a share of the measurements was done, as exactly as the buckets are.
   *
   * @param share from 0 to 1, such as 0.99
   * @return the bound in nanoseconds; {@link Long#MAX_VALUE} beyond the last; 0 without
   *     measurements
   */
  public long quantile(double share) {
    for (int i = 0; i < within.size() && count > 0; i++) {
      if (within.get(i) >= share * count) {
        return BOUNDS.get(i);
      }
    }
    return count == 0 ? 0 : Long.MAX_VALUE;
  }

  private static List<Long> makeBounds() {
    List<Long> bounds = new java.util.ArrayList<>();
    for (long power = 100_000; power < 10_000_000_000_000L; power *= 10) {
      bounds.addAll(List.of(power, 2 * power, 5 * power));
    }
    bounds.add(10_000_000_000_000L);
    return List.copyOf(bounds);
  }
}
