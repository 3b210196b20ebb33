package dev.carillon.api.schedule;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidScheduleException;
import dev.carillon.api.internal.Check;
import dev.carillon.api.internal.Micros;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * When a recurring job has its occurrences: by cron in a zone, at a fixed rate, or a fixed delay
 * after the end of the last one. Made by {@link #cron(String)}, {@link #every}, {@link #afterEach}
 * or {@link #parse} and refined by the methods here, each of which returns a copy.
 *
 * <p>By default it begins when it is accepted and has no end; cron is in UTC; a time that a clock
 * change skips is due at the first instant after the gap, and one that comes twice is due once
 * ({@link ClockGap}, {@link ClockOverlap}); an occurrence that is due while the last one runs is
 * skipped ({@link Overlap}); one occurrence makes up for all that were missed ({@link Misfire}),
 * however late; there is no jitter. Every method refuses a bad value at once with {@link
 * InvalidScheduleException}.
 *
 * <p>A cron schedule <em>ticks through the hours</em> if its hour field names all 24 of them,
 * however it is written: <code>*</code>, <code>&#42;/1</code> or <code>0-23</code>. It follows real
 * time over clock changes: whatever the clock on the wall shows is matched whenever it is shown, so
 * every 15 minutes stays every 15 minutes. Any other schedule, also <code>&#42;/2</code> or <code>
 * 1-5</code>, has <em>fixed times</em>, to which {@link #gap(ClockGap)} and {@link
 * #clockOverlap(ClockOverlap)} apply.
 *
 * <p>Immutable and thread-safe. It reads no clock: {@link #first}, {@link #next} and {@link
 * #nextAfter} are functions of their arguments, the same on every node that has the same time zone
 * data. Times are whole microseconds: periods and starts that are finer are rounded up, ends down.
 * All times are within {@link Limits#EARLIEST_DUE} and {@link Limits#LATEST_DUE}; beyond there are
 * none. Two schedules are equal if they were given by the same text or period and settings.
 */
public final class Schedule {
  private static final ZoneId UTC = ZoneId.of("UTC");
  private static final long LATEST = Micros.down(Limits.LATEST_DUE);

  private final Rhythm rhythm;
  private final @Nullable Instant start;
  private final @Nullable Instant until;
  private final @Nullable Long times;
  private final Duration jitter;
  private final ClockGap gap;
  private final ClockOverlap clockOverlap;
  private final Overlap overlap;
  private final Misfire misfire;
  private final @Nullable Duration grace;

  private final Ticks ticks;
  private final long last;

  /**
   * How the times of a schedule follow from one another. The codes are stored: they never change
   * and none is used again.
   */
  public enum Kind {
    /** By the clock on the wall. */
    CRON(1),
    /** At a fixed rate, however long occurrences take. */
    EVERY(2),
    /** A fixed delay after the end of the last occurrence. */
    AFTER_EACH(3);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /**
     * The stable code.
     *
     * @return from 1; 0 is reserved
     */
    public int code() {
      return code;
    }

    /**
     * The kind with a code.
     *
     * @param code a code that {@link #code()} gave
     * @return the kind
     * @throws IllegalArgumentException if no kind has the code
     */
    public static Kind ofCode(int code) {
      return switch (code) {
        case 1 -> CRON;
        case 2 -> EVERY;
        case 3 -> AFTER_EACH;
        default ->
            throw new IllegalArgumentException(Check.problem("schedule kind code", code, "1 to 3"));
      };
    }
  }

  private Schedule(Draft draft) {
    this.rhythm = draft.rhythm;
    this.start = draft.start;
    this.until = draft.until;
    this.times = draft.times;
    this.jitter = draft.jitter;
    this.gap = draft.gap;
    this.clockOverlap = draft.clockOverlap;
    this.overlap = draft.overlap;
    this.misfire = draft.misfire;
    this.grace = draft.grace;
    this.ticks = rhythm.ticks(start, gap, clockOverlap);
    this.last = until == null ? LATEST : Micros.down(until);
  }

  /**
   * By cron, in UTC unless the text begins with a zone.
   *
   * @param expression as for {@link #parse}, but not {@code @every}
   * @return the schedule
   * @throws InvalidScheduleException if it cannot be read or comes less than once in five years
   */
  public static Schedule cron(String expression) {
    ScheduleText.OfCron text = cronText(expression);
    return ofCron(text, text.zone() == null ? UTC : text.zone());
  }

  /**
   * By cron in a zone.
   *
   * @param expression as for {@link #parse}, but not {@code @every}
   * @param zone the zone whose clock counts; if the text begins with a zone, the same
   * @return the schedule
   * @throws InvalidScheduleException if the expression cannot be read, comes less than once in five
   *     years or begins with another zone, or if the zone is unknown
   */
  public static Schedule cron(String expression, String zone) {
    return cron(expression, ScheduleCheck.zone(zone));
  }

  /**
   * By cron in a zone.
   *
   * @param expression as for {@link #parse}, but not {@code @every}
   * @param zone the zone whose clock counts; if the text begins with a zone, the same
   * @return the schedule
   * @throws InvalidScheduleException if the expression cannot be read, comes less than once in five
   *     years or begins with another zone
   */
  public static Schedule cron(String expression, ZoneId zone) {
    ScheduleText.OfCron text = cronText(expression);
    ZoneId given = ScheduleCheck.present("zone", zone);
    if (text.zone() != null && !text.zone().equals(given)) {
      throw ScheduleCheck.invalid("zone", given, "the zone of " + Check.shown(expression));
    }
    return ofCron(text, given);
  }

  /**
   * At a fixed rate, however long occurrences take. The first is one period after the schedule is
   * accepted, unless it has a {@linkplain #startingAt start}.
   *
   * @param period above zero, at most {@link Limits#PERIOD_MAX}
   * @return the schedule
   * @throws InvalidScheduleException if it is out of range
   */
  public static Schedule every(Duration period) {
    return of(new Rhythm.AtRate(ScheduleCheck.period("period", period)));
  }

  /**
   * A fixed delay after the end of the last occurrence. The first is one delay after the schedule
   * is accepted, unless it has a {@linkplain #startingAt start}.
   *
   * @param delay above zero, at most {@link Limits#PERIOD_MAX}
   * @return the schedule
   * @throws InvalidScheduleException if it is out of range
   */
  public static Schedule afterEach(Duration delay) {
    return of(new Rhythm.AfterEnd(ScheduleCheck.period("delay", delay)));
  }

  /**
   * Reads a schedule from a text: a cron expression, a word or a period.
   *
   * <pre>{@code
   * [TZ=zone | CRON_TZ=zone] [second] minute hour day-of-month month day-of-week
   * [TZ=zone | CRON_TZ=zone] @yearly | @annually | @monthly | @weekly | @daily | @midnight | @hourly
   * @every 90s | @every 1h30m | @every 1.5s | @every 250ms | @every PT90S | @every P1DT2H
   * }</pre>
   *
   * <p>Fields stand apart by blanks; five or six of them, six beginning with the second, which is
   * otherwise 0. A field is a list of elements with commas, of which one must match:
   *
   * <ul>
   *   <li>{@code *}, every value; in the day fields also {@code ?};
   *   <li>a value or a range {@code 9-17}, perhaps with a step: {@code 10-30/5}; with a step, a
   *       value begins a range to the last: {@code 5/10} is {@code 5-59/10} for minutes. A step is
   *       at most the distance from the first value of the field to its last;
   *   <li>day of month, 1 to 31: {@code L}, the last day, {@code L-3}, three days before it, {@code
   *       15W}, the working day, Monday to Friday, nearest to day 15 in the same month, {@code LW},
   *       the last working day;
   *   <li>month: 1 to 12, {@code JAN} to {@code DEC};
   *   <li>day of week: 0 to 7, where both 0 and 7 are Sunday, {@code SUN} to {@code SAT}; {@code
   *       5L}, the last Friday of the month; {@code FRI#2} or {@code 5#2}, the second one. Only here
   *       a range may go over the end, and goes on with the beginning: {@code FRI-MON}.
   * </ul>
   *
   * <p>Upper and lower case are the same in a field and in a word with {@code @}. If neither day field begins with {@code *} or
   * {@code ?}, a day matches if one of the two does; otherwise both must.
   *
   * @param text at most {@link Limits#SCHEDULE_MAX_CHARS}
   * @return the schedule
   * @throws InvalidScheduleException if it cannot be read, saying where; if a cron comes less than
   *     once in five years, over the 400 years in which the calendar repeats; if a period is out of
   *     range or has a zone
   */
  public static Schedule parse(String text) {
    return switch (ScheduleText.parse(text)) {
      case ScheduleText.OfCron cron -> ofCron(cron, cron.zone() == null ? UTC : cron.zone());
      case ScheduleText.OfPeriod every -> every(every.period());
    };
  }

  private static ScheduleText.OfCron cronText(String expression) {
    if (ScheduleText.parse(expression) instanceof ScheduleText.OfCron cron) {
      return cron;
    }
    int every = expression.indexOf('@');
    throw ScheduleCheck.invalid(
        "cron",
        expression,
        every,
        expression.length(),
        "a cron expression; Schedule.parse reads @every");
  }

  private static Schedule ofCron(ScheduleText.OfCron text, ZoneId zone) {
    return of(new Rhythm.ByCron(text.cron(), text.expression(), zone));
  }

  private static Schedule of(Rhythm rhythm) {
    return new Schedule(new Draft(rhythm));
  }

  /**
   * How its times follow from one another.
   *
   * @return the kind
   */
  public Kind kind() {
    return rhythm.kind();
  }

  /**
   * The cron expression or its word, such as {@code @daily}, without zone.
   *
   * @return the text as given, with single blanks; null if the schedule is not by cron
   */
  public @Nullable String expression() {
    return rhythm instanceof Rhythm.ByCron cron ? cron.expression() : null;
  }

  /**
   * The zone whose clock counts.
   *
   * @return UTC by default; null if the schedule is not by cron
   */
  public @Nullable ZoneId zone() {
    return rhythm instanceof Rhythm.ByCron cron ? cron.zone() : null;
  }

  /**
   * The period, or the delay after each end.
   *
   * @return the period; null if the schedule is by cron
   */
  public @Nullable Duration period() {
    return switch (rhythm) {
      case Rhythm.ByCron cron -> null;
      case Rhythm.AtRate rate -> rate.period();
      case Rhythm.AfterEnd end -> end.delay();
    };
  }

  /**
   * The time before which there is no occurrence.
   *
   * @return the start, or null
   */
  public @Nullable Instant start() {
    return start;
  }

  /**
   * The time after which there is no occurrence.
   *
   * @return the end, inclusive, or null
   */
  public @Nullable Instant until() {
    return until;
  }

  /**
   * After how many occurrences it ends.
   *
   * @return the number, from 1, or null
   */
  public @Nullable Long times() {
    return times;
  }

  /**
   * How much later than its time an occurrence may be due, at random.
   *
   * @return zero by default
   */
  public Duration jitter() {
    return jitter;
  }

  /**
   * What becomes of a fixed time that a clock change skips.
   *
   * @return {@link ClockGap#FIRST_VALID} by default; it means nothing unless the schedule is by
   *     cron
   */
  public ClockGap gap() {
    return gap;
  }

  /**
   * What becomes of a fixed time that comes twice.
   *
   * @return {@link ClockOverlap#FIRST} by default; it means nothing unless the schedule is by cron
   */
  public ClockOverlap clockOverlap() {
    return clockOverlap;
  }

  /**
   * What happens if an occurrence is due while an earlier one has not ended.
   *
   * @return {@link Overlap#SKIP} by default; it means nothing for {@link Kind#AFTER_EACH}
   */
  public Overlap overlap() {
    return overlap;
  }

  /**
   * What happens to missed occurrences.
   *
   * @return {@link Misfire#runOne()} by default
   */
  public Misfire misfire() {
    return misfire;
  }

  /**
   * How late an occurrence may start; later it does not take place.
   *
   * @return null by default: a minute under {@link Misfire#skip()}, however late under the others
   */
  public @Nullable Duration grace() {
    return grace;
  }

  /**
   * In another zone.
   *
   * @param zone the zone whose clock counts, also if the text began with one
   * @return a copy
   * @throws InvalidScheduleException if the schedule is not by cron
   */
  public Schedule in(ZoneId zone) {
    ZoneId checked = ScheduleCheck.present("zone", zone);
    if (rhythm instanceof Rhythm.ByCron cron) {
      var moved = new Rhythm.ByCron(cron.cron(), cron.expression(), checked);
      return with(draft -> draft.rhythm = moved);
    }
    throw ScheduleCheck.invalid("zone", checked, "no zone, since the schedule is not by cron");
  }

  /**
   * In another zone.
   *
   * @param zone the zone whose clock counts, also if the text began with one
   * @return a copy
   * @throws InvalidScheduleException if the zone is unknown or the schedule is not by cron
   */
  public Schedule in(String zone) {
    return in(ScheduleCheck.zone(zone));
  }

  /**
   * With a time before which there is no occurrence. Cron has its first occurrence at its first
   * time from there on; the others have it at the start itself, and a fixed rate counts its periods
   * from there, also if it is in the past.
   *
   * @param start from {@link Limits#EARLIEST_DUE} to {@link Limits#LATEST_DUE}
   * @return a copy
   * @throws InvalidScheduleException if it is out of range or after the end
   */
  public Schedule startingAt(Instant start) {
    Instant checked = Micros.toInstant(Micros.up(ScheduleCheck.time("start", start)));
    return with(draft -> draft.start = checked);
  }

  /**
   * With a time after which there is no occurrence; one at that very time still is.
   *
   * @param until from {@link Limits#EARLIEST_DUE} to {@link Limits#LATEST_DUE}
   * @return a copy
   * @throws InvalidScheduleException if it is out of range or before the start
   */
  public Schedule until(Instant until) {
    Instant checked = Micros.toInstant(Micros.down(ScheduleCheck.time("until", until)));
    return with(draft -> draft.until = checked);
  }

  /**
   * With a number of occurrences, after which it ends. The computations here do not count: whoever
   * runs the schedule does.
   *
   * @param times at least 1
   * @return a copy
   * @throws InvalidScheduleException if it is below 1
   */
  public Schedule times(long times) {
    if (times < 1) {
      throw ScheduleCheck.invalid("times", times, "at least 1");
    }
    return with(draft -> draft.times = times);
  }

  /**
   * With jitter: each occurrence is due later than its time by a random part of this, so that what
   * is scheduled alike does not start all at once. The times of the schedule stay as they are.
   *
   * @param jitter not negative, and smaller than the period; for cron, than the shortest time
   *     between two ticks of a day
   * @return a copy
   * @throws InvalidScheduleException if it is out of range
   */
  public Schedule jitter(Duration jitter) {
    Duration checked = ScheduleCheck.length("jitter", jitter);
    return with(draft -> draft.jitter = checked);
  }

  /**
   * With a rule for fixed times that a clock change skips.
   *
   * @param gap the rule
   * @return a copy
   */
  public Schedule gap(ClockGap gap) {
    ClockGap checked = ScheduleCheck.present("gap", gap);
    return with(draft -> draft.gap = checked);
  }

  /**
   * With a rule for fixed times that come twice.
   *
   * @param overlap the rule
   * @return a copy
   */
  public Schedule clockOverlap(ClockOverlap overlap) {
    ClockOverlap checked = ScheduleCheck.present("clockOverlap", overlap);
    return with(draft -> draft.clockOverlap = checked);
  }

  /**
   * With a rule for an occurrence that is due while an earlier one has not ended.
   *
   * @param overlap the rule
   * @return a copy
   */
  public Schedule overlap(Overlap overlap) {
    Overlap checked = ScheduleCheck.present("overlap", overlap);
    return with(draft -> draft.overlap = checked);
  }

  /**
   * With a rule for missed occurrences.
   *
   * @param misfire the rule
   * @return a copy
   */
  public Schedule misfire(Misfire misfire) {
    Misfire checked = ScheduleCheck.present("misfire", misfire);
    return with(draft -> draft.misfire = checked);
  }

  /**
   * With a grace: how late an occurrence may start. One that is later does not take place.
   *
   * @param grace not negative, at most {@link Limits#PERIOD_MAX}
   * @return a copy
   * @throws InvalidScheduleException if it is out of range
   */
  public Schedule grace(Duration grace) {
    Duration checked = ScheduleCheck.length("grace", grace);
    return with(draft -> draft.grace = checked);
  }

  /**
   * The first occurrence.
   *
   * <ul>
   *   <li>Cron: the first time after {@code scheduledAt} that is not before the start.
   *   <li>A fixed rate: one period after {@code scheduledAt}; with a start, the first that is a
   *       number of periods after the start, zero included, and not before {@code scheduledAt}.
   *   <li>A fixed delay: one delay after {@code scheduledAt}; with a start that is not before
   *       {@code scheduledAt}, the start.
   * </ul>
   *
   * @param scheduledAt when the schedule is accepted
   * @return the time, or null if the schedule ends before it
   */
  public @Nullable Instant first(Instant scheduledAt) {
    return orNull(ticks.first(micros(scheduledAt)));
  }

  /**
   * The occurrence after another.
   *
   * @param previous the time of an occurrence; for a fixed delay, its end
   * @return a time after it, or null if there is none
   */
  public @Nullable Instant next(Instant previous) {
    return orNull(ticks.next(micros(previous)));
  }

  /**
   * The first occurrence after a time, of those that follow another one. It takes no longer if many
   * lie between.
   *
   * @param previous as for {@link #next}
   * @param after what it is to be after
   * @return what {@link #next} gives when it is repeated until the time is after {@code after}, or
   *     null if there is none
   */
  public @Nullable Instant nextAfter(Instant previous, Instant after) {
    return orNull(ticks.nextAfter(micros(previous), Micros.down(after)));
  }

  /** Rounded up, but for cron: there to be after a time is to be after its whole second. */
  private long micros(Instant time) {
    return rhythm instanceof Rhythm.ByCron ? Micros.down(time) : Micros.up(time);
  }

  private @Nullable Instant orNull(long micros) {
    return micros > last ? null : Micros.toInstant(micros);
  }

  /**
   * The next times, in the zone of the schedule, or in UTC if it has none.
   *
   * @param n how many, from 0 to {@link Limits#PREVIEW_MAX_TIMES}
   * @param from when the schedule is accepted
   * @return at most so many, less if the schedule ends before; those of a fixed delay as if
   *     occurrences took no time
   * @throws InvalidArgumentException if the number is out of range
   */
  public List<Occurrence> preview(int n, Instant from) {
    return preview(n, from, rhythm instanceof Rhythm.ByCron cron ? cron.zone() : UTC);
  }

  /**
   * The next times, in a zone.
   *
   * @param n how many, from 0 to {@link Limits#PREVIEW_MAX_TIMES}
   * @param from when the schedule is accepted
   * @param shownIn the zone that the times are shown in; notes are about the schedule's own
   * @return at most so many, less if the schedule ends before; those of a fixed delay as if
   *     occurrences took no time
   * @throws InvalidArgumentException if the number is out of range
   */
  public List<Occurrence> preview(int n, Instant from, ZoneId shownIn) {
    if (n < 0 || n > Limits.PREVIEW_MAX_TIMES) {
      throw InvalidArgumentException.of("n", n, "0 to " + Limits.PREVIEW_MAX_TIMES);
    }
    Check.argument("from", from);
    Check.argument("shownIn", shownIn);
    long count = times == null ? n : Math.min(n, times);
    List<Occurrence> preview = new ArrayList<>();
    Instant before = start != null && start.isAfter(from) ? start.minusNanos(1) : from;
    Instant time = first(from);
    while (time != null && preview.size() < count) {
      preview.add(new Occurrence(time.atZone(shownIn), notes(before, time, shownIn)));
      before = time;
      time = next(time);
    }
    return preview;
  }

  private List<String> notes(Instant before, Instant time, ZoneId shownIn) {
    return rhythm instanceof Rhythm.ByCron cron && ticks instanceof Ticks.OfCron times
        ? new ClockNotes(times.cron(), cron.zone(), shownIn).about(before, time)
        : List.of();
  }

  /**
   * The schedule in plain words, such as "At 02:00 every day, Europe/Berlin" or "Every 15 minutes".
   * For people: the words may change.
   *
   * @return one line; the zone is named unless it is UTC
   */
  public String describe() {
    var words = new StringBuilder(rhythm.words());
    if (rhythm instanceof Rhythm.ByCron cron && !cron.zone().equals(UTC)) {
      words.append(", ").append(cron.zone());
    }
    if (start != null) {
      words.append(", from ").append(start);
    }
    if (until != null) {
      words.append(", until ").append(until);
    }
    if (times != null) {
      words.append(times == 1 ? ", once" : ", " + times + " times");
    }
    if (!jitter.isZero()) {
      words.append(", up to ").append(DurationWords.of(jitter)).append(" later");
    }
    return words.toString();
  }

  private Schedule with(Consumer<Draft> change) {
    var draft = new Draft(this);
    change.accept(draft);
    draft.check();
    return new Schedule(draft);
  }

  private List<@Nullable Object> parts() {
    return Arrays.asList(
        rhythm, start, until, times, jitter, gap, clockOverlap, overlap, misfire, grace);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Schedule that && parts().equals(that.parts());
  }

  @Override
  public int hashCode() {
    return parts().hashCode();
  }

  /** Its settings, those left at their defaults included. */
  @Override
  public String toString() {
    return ("Schedule[%s %s, start=%s, until=%s, times=%s, jitter=%s, gap=%s, clockOverlap=%s,"
            + " overlap=%s, misfire=%s, grace=%s]")
        .formatted(
            kind(),
            rhythm,
            start,
            until,
            times,
            jitter,
            gap,
            clockOverlap,
            overlap,
            misfire,
            grace);
  }

  /** A schedule while it is made, so that its own fields are final. */
  private static final class Draft {
    Rhythm rhythm;
    @Nullable Instant start;
    @Nullable Instant until;
    @Nullable Long times;
    Duration jitter = Duration.ZERO;
    ClockGap gap = ClockGap.FIRST_VALID;
    ClockOverlap clockOverlap = ClockOverlap.FIRST;
    Overlap overlap = Overlap.SKIP;
    Misfire misfire = Misfire.runOne();
    @Nullable Duration grace;

    Draft(Rhythm rhythm) {
      this.rhythm = rhythm;
    }

    Draft(Schedule schedule) {
      rhythm = schedule.rhythm;
      start = schedule.start;
      until = schedule.until;
      times = schedule.times;
      jitter = schedule.jitter;
      gap = schedule.gap;
      clockOverlap = schedule.clockOverlap;
      overlap = schedule.overlap;
      misfire = schedule.misfire;
      grace = schedule.grace;
    }

    /** What settings have to do with one another. */
    void check() {
      if (start != null && until != null && until.isBefore(start)) {
        throw ScheduleCheck.invalid("until", until, "not before the start, " + start);
      }
      if (!jitter.isZero() && jitter.compareTo(rhythm.shortest()) >= 0) {
        throw ScheduleCheck.invalid("jitter", jitter, "less than " + rhythm.shortest());
      }
    }
  }
}
