package dev.carillon.api.schedule;

import dev.carillon.api.Job;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.InvalidScheduleException;
import dev.carillon.api.internal.Check;
import java.time.Duration;
import java.time.Instant;

/**
 * When a job is due: {@link Now}, {@link At} a time, or {@link In} a while.
 *
 * <p>Now and delays are turned into a time once, when the job is accepted, by the clock of the node
 * that accepts it; afterwards only that time counts, also after a crash. No attempt starts before
 * it. A time in the past is due at once. {@link #parse} reads one from a text.
 */
public sealed interface Due {

  /**
   * The due time of a job accepted at the given time.
   *
   * @param accepted when the job is accepted
   * @return the due time
   * @throws InvalidJobException if it lies outside of {@link Limits#EARLIEST_DUE} to {@link
   *     Limits#LATEST_DUE}
   */
  Instant from(Instant accepted);

  /**
   * Reads when from a text: a time, or a duration from when the job is accepted.
   *
   * <pre>{@code
   * 2026-03-01T08:00:00+01:00 | 2026-03-01T07:00:00.25Z         RFC 3339
   * 90s | 1h30m | 1.5s | 250ms                                  as Go writes it
   * PT90S | P1DT2H | P2W                                        ISO 8601, a day is 24 hours
   * }</pre>
   *
   * <p>A time has an offset or {@code Z}, which may be lower case as its {@code T} may. Years and
   * months are not read in durations: they have no length of their own. For an end given in the
   * same way, such as {@link Schedule#until(Instant)} or {@link Job#deadline(Instant)}, use {@link
   * #from}.
   *
   * @param text at most {@link Limits#SCHEDULE_MAX_CHARS}
   * @return a time or a delay
   * @throws InvalidScheduleException if it cannot be read or is out of range, saying where
   */
  static Due parse(String text) {
    String checked = ScheduleText.checked("due", text);
    int start = ScheduleText.skipBlanks(checked, 0);
    int end = ScheduleText.skipWord(checked, start);
    int rest = ScheduleText.skipBlanks(checked, end);
    if (rest < checked.length()) {
      throw ScheduleCheck.invalid("due", checked, rest, checked.length(), "nothing more");
    }
    return TimeText.isLikely(checked, start, end)
        ? new At(TimeText.parse("due", checked, start, end))
        : In.parse(checked, start, end);
  }

  /** Due as soon as the job is accepted. */
  record Now() implements Due {
    @Override
    public Instant from(Instant accepted) {
      return Limits.checkDue(accepted);
    }
  }

  /**
   * Due at a time.
   *
   * @param time from {@link Limits#EARLIEST_DUE} to {@link Limits#LATEST_DUE}
   */
  record At(Instant time) implements Due {
    /** Checks the range. */
    public At {
      Limits.checkDue(time);
    }

    @Override
    public Instant from(Instant accepted) {
      return time;
    }
  }

  /**
   * Due a while after the job is accepted.
   *
   * @param delay not negative
   */
  record In(Duration delay) implements Due {
    private static final Duration LONGEST =
        Duration.between(Limits.EARLIEST_DUE, Limits.LATEST_DUE);

    /** Checks the range. */
    public In {
      Check.range("delay", delay, Duration.ZERO, LONGEST);
    }

    private static In parse(String text, int start, int end) {
      Duration delay =
          DurationText.parse(
              "due",
              text,
              start,
              end,
              "a time such as 2026-03-01T08:00:00Z or " + DurationText.EXPECTED);
      if (delay.isNegative() || delay.compareTo(LONGEST) > 0) {
        throw ScheduleCheck.invalid("due", text, start, end, "PT0S to " + LONGEST);
      }
      return new In(delay);
    }

    @Override
    public Instant from(Instant accepted) {
      return Limits.checkDue(accepted.plus(delay));
    }
  }
}
