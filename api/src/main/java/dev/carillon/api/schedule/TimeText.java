package dev.carillon.api.schedule;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidScheduleException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/**
 * A time as RFC 3339 writes it: {@code 2026-03-01T08:00:00+01:00}, with a fraction of a second of
 * any length, {@code T} and {@code Z} in either case. What is finer than a nanosecond is rounded
 * up, and a leap second counts as the second after it, so that nothing comes early.
 */
final class TimeText {
  private static final int NANO_DIGITS = 9;

  private final String what;
  private final String text;
  private final int start;
  private final int end;
  private int at;

  private TimeText(String what, String text, int start, int end) {
    this.what = what;
    this.text = text;
    this.start = start;
    this.end = end;
    this.at = start;
  }

  /** Whether a part of a text looks like a time, well written or not: digits and a hyphen. */
  static boolean isLikely(String text, int start, int end) {
    int at = start;
    while (at < end && isDigit(text.charAt(at))) {
      at++;
    }
    return at > start && at < end && text.charAt(at) == '-';
  }

  /** The time in a part of a text; faults are told of {@code what}. */
  static Instant parse(String what, String text, int start, int end) {
    return new TimeText(what, text, start, end).time();
  }

  private Instant time() {
    int year = number(4, 0, 9999, "a year of four digits");
    skip('-', "- after the year");
    int month = number(2, 1, 12, "a month from 01 to 12");
    skip('-', "- after the month");
    int longest = LocalDate.of(year, month, 1).lengthOfMonth();
    int day = number(2, 1, longest, "a day from 01 to " + longest);
    skip('T', "T after the date");
    int hour = number(2, 0, 23, "an hour from 00 to 23");
    skip(':', ": after the hour");
    int minute = number(2, 0, 59, "a minute from 00 to 59");
    skip(':', ": after the minute");
    int secondAt = at;
    int second = number(2, 0, 60, "a second from 00 to 59");
    long nanos = fraction();
    ZoneOffset offset = offset();
    if (at < end) {
      throw fault(at, end, "nothing more");
    }
    OffsetDateTime time =
        OffsetDateTime.of(year, month, day, hour, minute, Math.min(second, 59), 0, offset);
    return inRange(second == 60 ? afterLeap(time, secondAt) : time.toInstant().plusNanos(nanos));
  }

  /** There is a 60th second only at the end of a day of UTC. */
  private Instant afterLeap(OffsetDateTime time, int secondAt) {
    OffsetDateTime utc = time.withOffsetSameInstant(ZoneOffset.UTC);
    if (utc.getHour() != 23 || utc.getMinute() != 59) {
      throw fault(secondAt, secondAt + 2, "a second from 00 to 59");
    }
    return time.toInstant().plusSeconds(1);
  }

  private Instant inRange(Instant time) {
    if (time.isBefore(Limits.EARLIEST_DUE) || time.isAfter(Limits.LATEST_DUE)) {
      throw fault(start, end, Limits.EARLIEST_DUE + " to " + Limits.LATEST_DUE);
    }
    return time;
  }

  private int number(int digits, int min, int max, String expected) {
    int from = at;
    int value = 0;
    while (at < end && at < from + digits && isDigit(text.charAt(at))) {
      value = 10 * value + text.charAt(at++) - '0';
    }
    if (at < from + digits || value < min || value > max) {
      throw fault(from, Math.min(from + digits, end), expected);
    }
    return value;
  }

  private void skip(char wanted, String expected) {
    if (at == end || Character.toUpperCase(text.charAt(at)) != wanted) {
      throw fault(at, end, expected);
    }
    at++;
  }

  /** In nanoseconds, rounded up; zero where there is none. */
  private long fraction() {
    if (at == end || text.charAt(at) != '.') {
      return 0;
    }
    int from = ++at;
    long nanos = 0;
    boolean finer = false;
    for (; at < end && isDigit(text.charAt(at)); at++) {
      int digit = text.charAt(at) - '0';
      if (at - from < NANO_DIGITS) {
        nanos = 10 * nanos + digit;
      } else {
        finer |= digit != 0;
      }
    }
    if (at == from) {
      throw fault(at, end, "digits after the point");
    }
    for (int digits = at - from; digits < NANO_DIGITS; digits++) {
      nanos *= 10;
    }
    return finer ? nanos + 1 : nanos;
  }

  private ZoneOffset offset() {
    String expected = "Z or an offset such as +01:00";
    if (at < end && Character.toUpperCase(text.charAt(at)) == 'Z') {
      at++;
      return ZoneOffset.UTC;
    }
    if (at == end || (text.charAt(at) != '+' && text.charAt(at) != '-')) {
      throw fault(at, end, expected);
    }
    int sign = text.charAt(at++) == '-' ? -1 : 1;
    int hours = number(2, 0, 18, "an offset of 00 to 18 hours");
    skip(':', expected);
    int minutes = number(2, 0, hours == 18 ? 0 : 59, "minutes of an offset up to 18:00");
    return ZoneOffset.ofHoursMinutes(sign * hours, sign * minutes);
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private InvalidScheduleException fault(int from, int to, String expected) {
    return ScheduleCheck.invalid(what, text, from, to, expected);
  }
}
