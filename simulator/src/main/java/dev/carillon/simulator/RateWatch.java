package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.Rate;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The starts under one rate: in no stretch of time may there be more than it gives. */
final class RateWatch {
  private static final int REMEMBERED = 48;
  private static final long SLACK_NANOS = 2 * VirtualClock.MICRO;

  private final List<Long> starts = new ArrayList<>();
  private @Nullable Rate rate;
  private int era;
  private long sinceNanos;

  /**
   * From now on this rate counts, null for none; one that stays the same goes on.
   *
   * @param newEra another for each time that it was set
   */
  void rate(@Nullable Rate newRate, int newEra, long nowNanos) {
    if (!Objects.equals(rate, newRate) || era != newEra) {
      rate = newRate;
      era = newEra;
      forget(nowNanos);
    }
  }

  /** What was before does not count: a wall clock put forward gives a whole burst at a restart. */
  void forget(long nowNanos) {
    starts.clear();
    sinceNanos = nowNanos;
  }

  /** An attempt started. */
  void started(Execution execution) {
    long nanos = execution.dispatchedNanos;
    Rate current = rate;
    if (current == null || nanos < sinceNanos || !execution.dispatchKnown) {
      return;
    }
    int place = starts.size();
    while (place > 0 && starts.get(place - 1) > nanos) {
      place--;
    }
    starts.add(place, nanos);
    long interval = current.period().toNanos() / current.permits();
    for (int from = 0; from <= place; from++) {
      for (int to = place; to < starts.size(); to++) {
        int count = to - from + 1;
        long stretch = starts.get(to) - starts.get(from);
        check(
            (count - current.burst()) * interval <= stretch + SLACK_NANOS,
            Guarantee.LIMITS,
            () -> execution + " is start " + count + " in " + stretch + " ns under " + current);
      }
    }
    if (starts.size() > REMEMBERED) {
      starts.removeFirst();
    }
  }
}
