package dev.carillon.api;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.temporal.TemporalAdjusters;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What a cron expression means, said a second time and as naively as possible: sets of numbers, and
 * questions to {@code java.time} about one date. It shares nothing with the product and takes valid
 * expressions only.
 */
final class CronOracle {
  private static final List<String> MONTHS =
      List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
  private static final List<String> WEEKDAYS =
      List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

  private final boolean[] seconds;
  private final boolean[] minutes;
  private final boolean[] hours;
  private final boolean[] months;
  private final String days;
  private final String weekdays;

  CronOracle(String expression) {
    String text = expression.toUpperCase(Locale.ROOT);
    String[] fields = (text.split(" ", -1).length == 5 ? "0 " + text : text).split(" ", -1);
    seconds = numbers(fields[0], 0, 59);
    minutes = numbers(fields[1], 0, 59);
    hours = numbers(fields[2], 0, 23);
    days = fields[3];
    months = numbers(named(fields[4], MONTHS, 1), 1, 12);
    weekdays = named(fields[5], WEEKDAYS, 0);
  }

  /** All 24 hours are named: the schedule follows real time over clock changes. */
  boolean followsRealTime() {
    for (boolean hour : hours) {
      if (!hour) {
        return false;
      }
    }
    return true;
  }

  boolean matchesTime(int hour, int minute, int second) {
    return hours[hour] && minutes[minute] && seconds[second];
  }

  boolean matches(LocalDateTime time) {
    return matchesTime(time.getHour(), time.getMinute(), time.getSecond())
        && matchesDate(time.toLocalDate());
  }

  boolean matchesDate(LocalDate date) {
    if (!months[date.getMonthValue()]) {
      return false;
    }
    boolean byDay = Arrays.stream(days.split(",", -1)).anyMatch(day -> isDay(day, date));
    boolean byWeekday =
        Arrays.stream(weekdays.split(",", -1)).anyMatch(day -> isWeekday(day, date));
    boolean either = !isOpen(days) && !isOpen(weekdays);
    return either ? byDay || byWeekday : byDay && byWeekday;
  }

  private static boolean isOpen(String field) {
    return field.startsWith("*") || field.startsWith("?");
  }

  private static boolean isDay(String day, LocalDate date) {
    LocalDate last = date.with(TemporalAdjusters.lastDayOfMonth());
    if (day.equals("L")) {
      return date.equals(last);
    }
    if (day.equals("LW")) {
      LocalDate working = last;
      while (isWeekend(working)) {
        working = working.minusDays(1);
      }
      return date.equals(working);
    }
    if (day.startsWith("L-")) {
      return date.equals(last.minusDays(Integer.parseInt(day.substring(2))));
    }
    if (day.endsWith("W")) {
      int wanted = Integer.parseInt(day.substring(0, day.length() - 1));
      return wanted <= last.getDayOfMonth() && date.equals(nearest(date.withDayOfMonth(wanted)));
    }
    return numbers(day, 1, 31)[date.getDayOfMonth()];
  }

  /** The first of the same day, the day before, the day after and so on that will do. */
  private static LocalDate nearest(LocalDate wanted) {
    for (int distance : new int[] {0, -1, 1, -2, 2}) {
      LocalDate date = wanted.plusDays(distance);
      if (!isWeekend(date) && date.getMonth() == wanted.getMonth()) {
        return date;
      }
    }
    throw new AssertionError(wanted);
  }

  private static boolean isWeekend(LocalDate date) {
    return date.getDayOfWeek() == DayOfWeek.SATURDAY || date.getDayOfWeek() == DayOfWeek.SUNDAY;
  }

  private static boolean isWeekday(String day, LocalDate date) {
    if (day.endsWith("L")) {
      DayOfWeek wanted = weekday(day.substring(0, day.length() - 1));
      return date.equals(date.with(TemporalAdjusters.lastInMonth(wanted)));
    }
    if (day.contains("#")) {
      String[] parts = day.split("#", -1);
      LocalDate found =
          date.with(
              TemporalAdjusters.dayOfWeekInMonth(Integer.parseInt(parts[1]), weekday(parts[0])));
      return date.equals(found);
    }
    // Two weeks in a row, so that a range over the end of the week is an ordinary one.
    String unwrapped = day;
    if (day.contains("-")) {
      String[] ends = day.split("[-/]", -1);
      int from = Integer.parseInt(ends[0]);
      int to = Integer.parseInt(ends[1]);
      unwrapped = from + "-" + (to < from ? to + 7 : to) + (ends.length > 2 ? "/" + ends[2] : "");
    } else if (day.startsWith("*") || day.contains("/")) {
      unwrapped = day.replace("*", "0").replaceFirst("^(\\d)(/|$)", "$1-6$2");
    }
    boolean[] set = numbers(unwrapped, 0, 14);
    int weekday = date.getDayOfWeek().getValue() % 7;
    return set[weekday] || set[weekday + 7];
  }

  private static DayOfWeek weekday(String number) {
    int n = Integer.parseInt(number);
    return DayOfWeek.of(n == 0 ? 7 : n);
  }

  private static String named(String field, List<String> names, int first) {
    String text = field;
    for (int i = 0; i < names.size(); i++) {
      text = text.replace(names.get(i), Integer.toString(first + i));
    }
    return text;
  }

  /** The numbers that a list of values, ranges and steps names. */
  private static boolean[] numbers(String list, int first, int last) {
    boolean[] set = new boolean[last + 1];
    for (String element : list.split(",", -1)) {
      String[] halves = element.split("/", -1);
      String[] ends = halves[0].split("-", -1);
      boolean all = halves[0].equals("*") || halves[0].equals("?");
      int from = all ? first : Integer.parseInt(ends[0]);
      int to = ends.length > 1 ? Integer.parseInt(ends[1]) : from;
      if (all || (halves.length > 1 && ends.length == 1)) {
        to = last;
      }
      int step = halves.length > 1 ? Integer.parseInt(halves[1]) : 1;
      for (int n = from; n <= to; n += step) {
        set[n] = true;
      }
    }
    return set;
  }
}
