package dev.carillon.api.schedule;

import dev.carillon.api.error.InvalidScheduleException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the fields of a cron expression. The grammar stands at {@link Schedule#parse}; a fault is
 * refused with its column in the whole text. Used once, by one thread.
 */
final class CronParser {
  private static final List<CronField> FIELDS = List.of(CronField.values());
  private static final int FEWEST_FIELDS = 5;
  private static final int ORDINALS = 5;
  private static final int NOT_READ = -1;

  private final String text;

  /** The same with the letters A to Z in upper case, and no other. */
  private final String upper;

  /** The plain values of each field. */
  private final Map<CronField, Long> values = new EnumMap<>(CronField.class);

  private int beforeLast;
  private int nearest;
  private boolean lastWorking;
  private int lasts;
  private long ordinals;

  /** The next character, and the end of the element that is read. */
  private int at;

  private int end;

  private CronParser(String text) {
    this.text = text;
    this.upper = upper(text);
  }

  /** The expression that stands in the text from a place on. */
  static Cron parse(String text, int from) {
    return new CronParser(text).fields(from);
  }

  /** Where a field stands in the text. */
  private record Part(int from, int to) {}

  private Cron fields(int from) {
    List<Part> parts = split(from);
    List<CronField> fields = FIELDS.subList(FIELDS.size() - parts.size(), FIELDS.size());
    values.put(CronField.SECOND, 1L);
    for (int i = 0; i < parts.size(); i++) {
      values.put(fields.get(i), list(fields.get(i), parts.get(i)));
    }
    Cron cron = cron(parts);
    if (cron.isTooRare()) {
      Part day = parts.get(parts.size() - 3);
      throw ScheduleCheck.invalid(
          "days", text, day.from, parts.getLast().to, "days that come at least once in five years");
    }
    return cron;
  }

  private Cron cron(List<Part> parts) {
    boolean openDays = isOpen(parts.get(parts.size() - 3));
    boolean openWeekdays = isOpen(parts.getLast());
    return new Cron(
        mask(CronField.SECOND),
        mask(CronField.MINUTE),
        mask(CronField.HOUR),
        mask(CronField.MONTH),
        new DaysOfMonth((int) mask(CronField.DAY), beforeLast, nearest, lastWorking, openDays),
        new DaysOfWeek((int) mask(CronField.WEEKDAY), lasts, ordinals, openWeekdays));
  }

  private long mask(CronField field) {
    return values.getOrDefault(field, 0L);
  }

  private boolean isOpen(Part field) {
    return text.charAt(field.from) == '*' || text.charAt(field.from) == '?';
  }

  /** The fields: five or six, apart by blanks. */
  private List<Part> split(int from) {
    List<Part> parts = new ArrayList<>();
    for (int start = ScheduleText.skipBlanks(text, from);
        start < text.length();
        start = ScheduleText.skipBlanks(text, parts.getLast().to)) {
      parts.add(new Part(start, ScheduleText.skipWord(text, start)));
    }
    if (parts.size() < FEWEST_FIELDS) {
      throw wrongCount(parts, new Part(text.length(), text.length()));
    }
    if (parts.size() > FIELDS.size()) {
      throw wrongCount(parts, parts.get(FIELDS.size()));
    }
    return parts;
  }

  private InvalidScheduleException wrongCount(List<Part> parts, Part where) {
    return ScheduleCheck.invalid(
        "cron", text, where.from, where.to, "5 or 6 fields, has " + parts.size());
  }

  private long list(CronField field, Part part) {
    long mask = 0;
    int start = part.from;
    while (true) {
      int comma = upper.indexOf(',', start);
      boolean more = comma >= 0 && comma < part.to;
      at = start;
      end = more ? comma : part.to;
      mask |= element(field);
      if (!more) {
        return mask;
      }
      start = comma + 1;
    }
  }

  /** One element of a list; returns its plain values and keeps what else it names. */
  private long element(CronField field) {
    int start = at;
    if (start == end) {
      throw fault(field.title, start, "a value");
    }
    if (field.isDay() && take('?')) {
      expectEnd(field);
      return field.all();
    }
    boolean special =
        switch (field) {
          case DAY -> lastDay() || nearestDay();
          case WEEKDAY -> weekdayInMonth();
          default -> false;
        };
    if (special) {
      expectEnd(field);
      return 0;
    }
    at = start;
    return range(field);
  }

  /** {@code L}, {@code L-3} or {@code LW}. */
  private boolean lastDay() {
    if (!take('L')) {
      return false;
    }
    if (take('W')) {
      lastWorking = true;
    } else if (take('-')) {
      beforeLast |= 1 << number("days before the last", 1, 30);
    } else {
      beforeLast |= 1;
    }
    return true;
  }

  /** {@code 15W}. */
  private boolean nearestDay() {
    int start = at;
    int day = digits();
    if (!take('W')) {
      return false;
    }
    if (day < CronField.DAY.first || day > CronField.DAY.last) {
      throw fault("day before W", start, CronField.DAY.range());
    }
    nearest |= 1 << day;
    return true;
  }

  /** {@code 5L} or {@code FRI#2}. */
  private boolean weekdayInMonth() {
    if (upper.charAt(at) == '*') {
      return false;
    }
    int weekday = value(CronField.WEEKDAY) % 7;
    if (take('L')) {
      lasts |= 1 << weekday;
      return true;
    }
    if (take('#')) {
      ordinals |= DaysOfWeek.ordinal(weekday, number("number of the weekday", 1, ORDINALS));
      return true;
    }
    return false;
  }

  /** {@code *}, a value or a range, perhaps with a step. */
  private long range(CronField field) {
    int start = at;
    int first = field.first;
    int last = field.last;
    if (!take('*')) {
      first = value(field);
      if (take('-')) {
        last = value(field);
      } else if (at == end || upper.charAt(at) != '/') {
        last = first;
      }
    }
    int distance = field.distance(first, last);
    if (distance < 0) {
      at = start;
      throw fault(field.title, start, "a range from a lower to a higher value");
    }
    int step = take('/') ? number(field.title + " step", 1, field.last - field.first) : 1;
    expectEnd(field);
    long mask = 0;
    for (int i = 0; i <= distance; i += step) {
      mask |= field.bit(first + i);
    }
    return mask;
  }

  /** A number or a name. */
  private int value(CronField field) {
    int start = at;
    int named = field.named(upper, at);
    if (named >= 0) {
      at += 3;
      return named;
    }
    int value = digits();
    if (value < field.first || value > field.highest()) {
      throw fault(field.title, start, field.range());
    }
    return value;
  }

  private int number(String what, int min, int max) {
    int start = at;
    int number = digits();
    if (number < min || number > max) {
      throw fault(what, start, min + " to " + max);
    }
    return number;
  }

  /** A number without sign, cut to one that is out of every range; or {@link #NOT_READ}. */
  private int digits() {
    int number = NOT_READ;
    while (at < end && upper.charAt(at) >= '0' && upper.charAt(at) <= '9') {
      number = Math.min(Math.max(number, 0) * 10 + upper.charAt(at) - '0', 1_000);
      at++;
    }
    return number;
  }

  private boolean take(char c) {
    boolean there = at < end && upper.charAt(at) == c;
    at += there ? 1 : 0;
    return there;
  }

  private void expectEnd(CronField field) {
    if (at < end) {
      throw fault(field.title, at, "a comma or the end of the field");
    }
  }

  /** About what stands from a place to the end of the element or of the number there. */
  private InvalidScheduleException fault(String what, int from, String expected) {
    return ScheduleCheck.invalid(what, text, from, at > from ? at : end, expected);
  }

  private static String upper(String text) {
    var upper = new StringBuilder(text);
    for (int i = 0; i < upper.length(); i++) {
      char c = upper.charAt(i);
      if (c >= 'a' && c <= 'z') {
        upper.setCharAt(i, (char) (c - 'a' + 'A'));
      }
    }
    return upper.toString();
  }
}
