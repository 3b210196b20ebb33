package dev.carillon.api.schedule;

import dev.carillon.api.error.InvalidScheduleException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as Go writes them, {@code 1h30m}, {@code 1.5s}, {@code 250ms}, or as ISO 8601 does,
 * {@code PT90S}, {@code P1DT2H}, {@code P2W}; a day is 24 hours. Years and months have no length of
 * their own and are not read.
 */
final class DurationText {

  /** Units; one whose name begins another's comes after it. */
  private static final List<Unit> UNITS =
      List.of(
          new Unit("ms", 1_000_000),
          new Unit("us", 1_000),
          new Unit("µs", 1_000), // the micro sign
          new Unit("μs", 1_000), // the Greek letter
          new Unit("ns", 1),
          new Unit("h", 3_600_000_000_000L),
          new Unit("m", 60_000_000_000L),
          new Unit("s", 1_000_000_000));

  /** What is expected where a duration is. */
  static final String EXPECTED = "a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S";

  /** More than a period or a delay may have. */
  private static final BigDecimal MOST_SECONDS = BigDecimal.valueOf(1_000_000_000_000L);

  private static final Pattern WEEKS = Pattern.compile("P(\\d{1,9})W", Pattern.CASE_INSENSITIVE);

  private record Unit(String name, long nanos) {}

  private final String what;
  private final String text;
  private final int end;
  private final String expected;
  private int at;

  private DurationText(String what, String text, int start, int end, String expected) {
    this.what = what;
    this.text = text;
    this.at = start;
    this.end = end;
    this.expected = expected;
  }

  /**
   * The duration in a part of a text; one that is too long for a schedule may come out as any other
   * that is. Faults are told of {@code what}, and what was expected instead.
   */
  static Duration parse(String what, String text, int start, int end, String expected) {
    var reader = new DurationText(what, text, start, end, expected);
    return text.regionMatches(true, start, "P", 0, 1) ? reader.iso() : reader.go();
  }

  private Duration iso() {
    String part = text.substring(at, end);
    Matcher weeks = WEEKS.matcher(part);
    if (weeks.matches()) {
      return Duration.ofDays(7 * Long.parseLong(weeks.group(1)));
    }
    try {
      return Duration.parse(part);
    } catch (DateTimeException e) {
      throw fault(at);
    }
  }

  private Duration go() {
    BigDecimal nanos = part();
    while (at < end) {
      nanos = nanos.add(part());
    }
    BigDecimal seconds = nanos.setScale(0, RoundingMode.CEILING).movePointLeft(9).min(MOST_SECONDS);
    return Duration.ofSeconds(
        seconds.longValue(), seconds.remainder(BigDecimal.ONE).movePointRight(9).longValue());
  }

  /** A number and its unit, in nanoseconds. */
  private BigDecimal part() {
    int start = at;
    boolean whole = skipDigits();
    boolean fraction = at < end && text.charAt(at) == '.' && skipFraction();
    if (!whole && !fraction) {
      throw fault(start);
    }
    var number = new BigDecimal(text.substring(start, at));
    for (Unit unit : UNITS) {
      if (text.startsWith(unit.name, at)) {
        at += unit.name.length();
        return number.multiply(BigDecimal.valueOf(unit.nanos));
      }
    }
    throw fault(start);
  }

  private boolean skipFraction() {
    at++;
    return skipDigits();
  }

  /** Whether there were any. */
  private boolean skipDigits() {
    int start = at;
    while (at < end && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    return at > start;
  }

  private InvalidScheduleException fault(int from) {
    return ScheduleCheck.invalid(what, text, from, end, expected);
  }
}
