package dev.carillon.api.schedule;

import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import org.jspecify.annotations.Nullable;

/**
 * The time between two clock changes of a zone, during which local time is real time plus one
 * offset. Times are seconds since 1970; those that are {@code local} are by the clock on the wall.
 *
 * @param start the clock change it begins with, or {@link #UNBOUNDED} before the first
 * @param end the clock change it ends with, exclusive, or {@link #FOREVER} after the last
 * @param offset what local time is ahead of UTC
 * @param changeAtStart by how much clocks are set forward at its start; below zero, back
 * @param changeAtEnd the same at its end
 */
record Stretch(long start, long end, int offset, int changeAtStart, int changeAtEnd) {
  static final long UNBOUNDED = Long.MIN_VALUE;
  static final long FOREVER = Long.MAX_VALUE;

  /** The stretch that a time lies in. */
  static Stretch at(ZoneRules rules, long second) {
    Instant time = Instant.ofEpochSecond(second);
    ZoneOffsetTransition before = rules.previousTransition(time.plusSeconds(1));
    ZoneOffsetTransition after = rules.nextTransition(time);
    return new Stretch(
        before == null ? UNBOUNDED : before.toEpochSecond(),
        after == null ? FOREVER : after.toEpochSecond(),
        rules.getOffset(time).getTotalSeconds(),
        change(before),
        change(after));
  }

  private static int change(@Nullable ZoneOffsetTransition transition) {
    return transition == null ? 0 : (int) transition.getDuration().toSeconds();
  }

  boolean holds(long second) {
    return second >= start && second < end;
  }

  /** Whether local times are skipped at its start. */
  boolean startsWithGap() {
    return changeAtStart > 0;
  }

  /** The first local time. */
  long localStart() {
    return start + offset;
  }

  /** The first local time that the gap at its start skips. */
  long localGap() {
    return localStart() - changeAtStart;
  }

  /** The first time whose local time has not come before. */
  long afterRepeats() {
    return start - Math.min(changeAtStart, 0);
  }

  /** The first time whose local time comes again. */
  long beforeRepeats() {
    return end + Math.min(changeAtEnd, 0);
  }
}
