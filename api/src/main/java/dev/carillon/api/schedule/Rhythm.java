package dev.carillon.api.schedule;

import dev.carillon.api.Limits;
import dev.carillon.api.internal.Micros;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** What the times of a schedule follow: a clock on the wall, a rate or the end of the last one. */
sealed interface Rhythm {

  Schedule.Kind kind();

  /** The shortest time between two occurrences, clock changes aside. */
  Duration shortest();

  /** In plain words, at the beginning of a sentence. */
  String words();

  /** Its times, from a start if there is one; only cron has rules for clock changes. */
  Ticks ticks(@Nullable Instant start, ClockGap gap, ClockOverlap overlap);

  /**
   * By cron.
   *
   * @param expression the text without zone, with single blanks
   */
  record ByCron(Cron cron, String expression, ZoneId zone) implements Rhythm {

    @Override
    public Schedule.Kind kind() {
      return Schedule.Kind.CRON;
    }

    @Override
    public Duration shortest() {
      return Duration.ofSeconds(cron.shortestSeconds());
    }

    @Override
    public String words() {
      return CronWords.of(cron);
    }

    @Override
    public Ticks ticks(@Nullable Instant start, ClockGap gap, ClockOverlap overlap) {
      return new Ticks.OfCron(
          new ZonedCron(cron, zone, gap, overlap),
          Micros.down(start == null ? Limits.EARLIEST_DUE : start));
    }

    /** The text with its zone, as {@link Schedule#parse} reads it. */
    @Override
    public String toString() {
      return "TZ=" + zone + " " + expression;
    }
  }

  /** At a fixed rate. */
  record AtRate(Duration period) implements Rhythm {

    @Override
    public Schedule.Kind kind() {
      return Schedule.Kind.EVERY;
    }

    @Override
    public Duration shortest() {
      return period;
    }

    @Override
    public String words() {
      return "Every " + DurationWords.every(period);
    }

    @Override
    public Ticks ticks(@Nullable Instant start, ClockGap gap, ClockOverlap overlap) {
      return new Ticks.OfRate(Micros.of(period), start == null ? null : Micros.down(start));
    }

    @Override
    public String toString() {
      return period.toString();
    }
  }

  /** A fixed delay after the end of the last occurrence. */
  record AfterEnd(Duration delay) implements Rhythm {

    @Override
    public Schedule.Kind kind() {
      return Schedule.Kind.AFTER_EACH;
    }

    @Override
    public Duration shortest() {
      return delay;
    }

    @Override
    public String words() {
      return DurationWords.of(delay) + " after each end";
    }

    @Override
    public Ticks ticks(@Nullable Instant start, ClockGap gap, ClockOverlap overlap) {
      return new Ticks.OfDelay(Micros.of(delay), start == null ? null : Micros.down(start));
    }

    @Override
    public String toString() {
      return delay.toString();
    }
  }
}
