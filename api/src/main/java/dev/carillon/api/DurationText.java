package dev.carillon.api;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.List;

/**
 * Durations as Go writes them, {@code 1h30m}, {@code 1.5s}, {@code 250ms}, or as ISO 8601 does,
 * {@code PT90S}.
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

  private static final String EXPECTED = "a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S";

  /** More than a period may have, and few enough to count in a long. */
  private static final BigDecimal MOST_NANOS =
      BigDecimal.valueOf(Limits.PERIOD_MAX.toSeconds() + 1).scaleByPowerOfTen(9);

  private record Unit(String name, long nanos) {}

  private final String text;
  private final int end;
  private int at;

  private DurationText(String text, int start, int end) {
    this.text = text;
    this.at = start;
    this.end = end;
  }

  /**
   * The duration in a part of a text; one that is too long for a period may come out as any other
   * that is.
   */
  static Duration parse(String text, int start, int end) {
    return text.startsWith("P", start)
        ? iso(text, start, end)
        : new DurationText(text, start, end).go();
  }

  private static Duration iso(String text, int start, int end) {
    try {
      return Duration.parse(text.substring(start, end));
    } catch (DateTimeException e) {
      throw ScheduleCheck.invalid("period", text, start, end, EXPECTED);
    }
  }

  private Duration go() {
    BigDecimal nanos = part();
    while (at < end) {
      nanos = nanos.add(part());
    }
    return Duration.ofNanos(
        nanos.min(MOST_NANOS).setScale(0, RoundingMode.CEILING).longValueExact());
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
    return ScheduleCheck.invalid("period", text, from, end, EXPECTED);
  }
}
