package dev.carillon.api.schedule;

import java.time.LocalDate;

/**
 * The times that a cron expression names on a calendar without zone. A local time is a number here:
 * seconds since 1970-01-01T00:00 by the clock on the wall.
 *
 * <p>Fields are bit masks, so that the next value of a field is one instruction away, and the days
 * of a month are one mask computed for the month. Immutable.
 *
 * @param seconds bit n: second n
 * @param minutes bit n: minute n
 * @param hours bit n: hour n
 * @param months bit n: month n, from 1
 * @param daysOfMonth the day-of-month field
 * @param daysOfWeek the day-of-week field
 */
record Cron(
    long seconds,
    long minutes,
    long hours,
    long months,
    DaysOfMonth daysOfMonth,
    DaysOfWeek daysOfWeek) {

  /** Above every local time: there is none. */
  static final long NONE = Long.MAX_VALUE;

  static final int DAY_SECONDS = 86_400;

  private static final int NO_TIME = -1;

  /** A year more than due times have, whatever the zone. */
  private static final int LAST_YEAR = 10_000;

  /** The calendar, with its weekdays, repeats after so many years. */
  private static final int CYCLE_YEARS = 400;

  private static final int RAREST_YEARS = 5;

  /** The first local time of the schedule that is not before the given one, or {@link #NONE}. */
  long atOrAfter(long local) {
    long day = Math.floorDiv(local, DAY_SECONDS);
    int time = timeAtOrAfter((int) (local - day * DAY_SECONDS));
    long match = dayAtOrAfter(time == NO_TIME ? day + 1 : day);
    if (match == NONE) {
      return NONE;
    }
    return match * DAY_SECONDS + (match == day ? time : firstTime());
  }

  /** Whether it ticks in every hour of a day, so that it follows real time over clock changes. */
  boolean ticksEveryHour() {
    return hours == CronField.HOUR.all();
  }

  /** Whether it comes less than once in five years, over a whole cycle of the calendar. */
  boolean isTooRare() {
    int enough = CYCLE_YEARS / RAREST_YEARS;
    long day = LocalDate.of(2000, 1, 1).toEpochDay();
    long end = LocalDate.of(2000 + CYCLE_YEARS, 1, 1).toEpochDay();
    int count = 0;
    for (day = dayAtOrAfter(day); day < end && count < enough; day = dayAtOrAfter(day + 1)) {
      count++;
    }
    return count < enough;
  }

  /** The shortest time between two ticks of a day, or of one day and the next. */
  int shortestSeconds() {
    int last = firstTime();
    int shortest = DAY_SECONDS;
    for (int time = timeAtOrAfter(last + 1); time != NO_TIME; time = timeAtOrAfter(time + 1)) {
      shortest = Math.min(shortest, time - last);
      last = time;
    }
    return Math.min(shortest, DAY_SECONDS - last + firstTime());
  }

  private int timeAtOrAfter(int time) {
    int hour = time / 3600;
    if (has(hours, hour)) {
      int minute = time / 60 % 60;
      if (has(minutes, minute) && hasFrom(seconds, time % 60)) {
        return time(hour, minute, firstFrom(seconds, time % 60));
      }
      if (hasFrom(minutes, minute + 1)) {
        return time(hour, firstFrom(minutes, minute + 1), firstFrom(seconds, 0));
      }
    }
    return hasFrom(hours, hour + 1)
        ? time(firstFrom(hours, hour + 1), firstFrom(minutes, 0), firstFrom(seconds, 0))
        : NO_TIME;
  }

  private int firstTime() {
    return time(firstFrom(hours, 0), firstFrom(minutes, 0), firstFrom(seconds, 0));
  }

  private long dayAtOrAfter(long epochDay) {
    LocalDate date = LocalDate.ofEpochDay(epochDay);
    LocalDate month = date.withDayOfMonth(1);
    int days = daysOf(month) & (-1 << date.getDayOfMonth());
    while (days == 0) {
      month = nextMonth(month);
      if (month.getYear() > LAST_YEAR) {
        return NONE;
      }
      days = daysOf(month);
    }
    return month.toEpochDay() + Integer.numberOfTrailingZeros(days) - 1;
  }

  /** The first day of the next month that the month field names. */
  private LocalDate nextMonth(LocalDate month) {
    int next = month.getMonthValue() + 1;
    return hasFrom(months, next)
        ? LocalDate.of(month.getYear(), firstFrom(months, next), 1)
        : LocalDate.of(month.getYear() + 1, firstFrom(months, 0), 1);
  }

  /** The days of the month that begins with a day; bit n is day n. */
  private int daysOf(LocalDate first) {
    if (!has(months, first.getMonthValue())) {
      return 0;
    }
    int length = first.lengthOfMonth();
    int firstWeekday = (int) Math.floorMod(first.toEpochDay() + 4, 7L);
    int byMonth = daysOfMonth.in(length, firstWeekday);
    int byWeek = daysOfWeek.in(length, firstWeekday);
    return bothMustMatch() ? byMonth & byWeek : byMonth | byWeek;
  }

  /** Two restricted day fields name days each for itself, as in Vixie cron. */
  boolean bothMustMatch() {
    return daysOfMonth.open() || daysOfWeek.open();
  }

  private static int time(int hour, int minute, int second) {
    return (hour * 60 + minute) * 60 + second;
  }

  private static boolean has(long mask, int value) {
    return (mask & (1L << value)) != 0;
  }

  private static boolean hasFrom(long mask, int value) {
    return (mask & (-1L << value)) != 0;
  }

  private static int firstFrom(long mask, int value) {
    return Long.numberOfTrailingZeros(mask & (-1L << value));
  }
}
