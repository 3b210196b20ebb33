package dev.carillon.api.schedule;

import java.time.ZoneId;
import java.time.zone.ZoneRules;
import org.jspecify.annotations.Nullable;

/**
 * A cron expression in a zone: its local times laid on the real time line, with clock changes
 * treated as the schedule says. Times are seconds since 1970.
 *
 * <p>It goes from one {@link Stretch} of constant offset to the next, and within one a search by
 * {@link Cron} suffices. The last stretch is kept, since the next question is nearly always about
 * it. Thread-safe: that field is a cache of immutable values, and a thread that does not see
 * another's write computes the same again.
 */
final class ZonedCron {
  /** Above every time: there is none. */
  static final long NONE = Long.MAX_VALUE;

  /** No zone is further from UTC. */
  private static final long FARTHEST_OFFSET = 18 * 3600;

  private final Cron cron;
  private final ZoneRules rules;
  private final boolean fixedTimes;
  private final ClockGap gap;
  private final ClockOverlap overlap;
  private @Nullable Stretch latest;

  ZonedCron(Cron cron, ZoneId zone, ClockGap gap, ClockOverlap overlap) {
    this.cron = cron;
    this.rules = zone.getRules();
    this.fixedTimes = !cron.ticksEveryHour();
    this.gap = gap;
    this.overlap = fixedTimes ? overlap : ClockOverlap.BOTH;
  }

  /** The first time of the schedule that is not before the given one, or {@link #NONE}. */
  long atOrAfter(long second) {
    long from = second;
    while (true) {
      Stretch stretch = stretchAt(from);
      if (from == stretch.start() && makesUpForGap(stretch)) {
        return from;
      }
      from = Math.max(from, start(stretch));
      long local = cron.atOrAfter(from + stretch.offset());
      if (local == Cron.NONE) {
        return NONE;
      }
      long found = local - stretch.offset();
      if (found < end(stretch)) {
        return found;
      }
      from = resume(from, stretch, found);
    }
  }

  /** Whether the gap at the start of a stretch skips a time that is due there instead. */
  private boolean makesUpForGap(Stretch stretch) {
    return gap == ClockGap.FIRST_VALID && skipsTime(stretch);
  }

  /** Whether the gap at the start of a stretch skips a fixed time of the schedule. */
  boolean skipsTime(Stretch stretch) {
    return fixedTimes
        && stretch.startsWithGap()
        && cron.atOrAfter(stretch.localGap()) < stretch.localStart();
  }

  private long start(Stretch stretch) {
    return overlap == ClockOverlap.FIRST ? stretch.afterRepeats() : stretch.start();
  }

  private long end(Stretch stretch) {
    return overlap == ClockOverlap.SECOND ? stretch.beforeRepeats() : stretch.end();
  }

  /**
   * Where to look on when a stretch has nothing: at its end, or right away near the time that would
   * be next if its offset lasted. The latter is safe once no offset can bring local time back to
   * where the search began: until then only local times come that have no match.
   */
  private static long resume(long from, Stretch stretch, long found) {
    long end = stretch.end();
    return end - from < 2 * FARTHEST_OFFSET
        ? end
        : Math.max(end, found + stretch.offset() - FARTHEST_OFFSET);
  }

  Stretch stretchAt(long second) {
    Stretch stretch = latest;
    if (stretch == null || !stretch.holds(second)) {
      stretch = Stretch.at(rules, second);
      latest = stretch;
    }
    return stretch;
  }

  Cron cron() {
    return cron;
  }

  ClockGap gap() {
    return gap;
  }

  /** Which of two equal local times count; both, unless the schedule has fixed times. */
  ClockOverlap overlap() {
    return overlap;
  }
}
