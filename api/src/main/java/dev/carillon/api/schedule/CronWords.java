package dev.carillon.api.schedule;

import java.time.DayOfWeek;
import java.time.Month;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * A cron expression in plain English. It reads the masks and not the text, so that what it says is
 * what matches, however it was written.
 */
final class CronWords {
  /** More times of day than these are not listed if there is a shorter way. */
  private static final int LISTED_TIMES = 6;

  /** As many values in a row become "a to b". */
  private static final int RUN = 3;

  private static final long ZERO_ONLY = 1;
  private static final List<String> ORDINALS =
      List.of("", "first", "second", "third", "fourth", "fifth");

  private final Cron cron;
  private final boolean everyHour;

  private CronWords(Cron cron) {
    this.cron = cron;
    this.everyHour = cron.ticksEveryHour();
  }

  static String of(Cron cron) {
    var words = new CronWords(cron);
    String days = words.days();
    return days.isEmpty() ? words.time() : words.time() + " " + days;
  }

  private String time() {
    if (count(cron.hours()) * count(cron.minutes()) * count(cron.seconds()) <= LISTED_TIMES) {
      return "At " + times();
    }
    if (cron.seconds() != ZERO_ONLY) {
      return seconds();
    }
    return count(cron.minutes()) == 1 ? oneMinute() : minutes();
  }

  /** One minute of many hours. */
  private String oneMinute() {
    if (everyHour) {
      return cron.minutes() == ZERO_ONLY
          ? "Every hour"
          : "At " + counted("minute", cron.minutes()) + " past every hour";
    }
    if (evenHours()) {
      return "Every " + step(cron.hours(), CronField.HOUR) + " hours";
    }
    return isRun(cron.hours()) ? "Every hour " + span() : "At " + times();
  }

  /** Several minutes of an hour. */
  private String minutes() {
    int step = step(cron.minutes(), CronField.MINUTE);
    if (step == 0) {
      return "At " + counted("minute", cron.minutes()) + " past " + hours();
    }
    String every = step == 1 ? "Every minute" : "Every " + step + " minutes";
    if (everyHour) {
      return every;
    }
    return every + (isRun(cron.hours()) ? " " + span() : " in " + hours());
  }

  /** Seconds that are not just 0. */
  private String seconds() {
    int step = step(cron.seconds(), CronField.SECOND);
    if (step == 0) {
      return "At " + counted("second", cron.seconds()) + " past " + minutesAndHours();
    }
    String every = step == 1 ? "Every second" : "Every " + step + " seconds";
    return isEveryMinute() && everyHour ? every : every + " in " + minutesAndHours();
  }

  /** "every minute" or "minutes 0 and 30 of hours 09 to 17". */
  private String minutesAndHours() {
    if (isEveryMinute()) {
      return everyHour ? "every minute" : "every minute of " + hours();
    }
    return named("minute", cron.minutes(), Integer::toString) + " of " + hours();
  }

  private boolean isEveryMinute() {
    return cron.minutes() == CronField.MINUTE.all();
  }

  /** "every hour" or "hours 09 to 17". */
  private String hours() {
    return everyHour ? "every hour" : named("hour", cron.hours(), CronWords::twoDigits);
  }

  /** "from 09:00 to 17:45". */
  private String span() {
    return "from "
        + time(first(cron.hours()), first(cron.minutes()), 0)
        + " to "
        + time(last(cron.hours()), last(cron.minutes()), 0);
  }

  /** All times of a day. */
  private String times() {
    List<String> times = new ArrayList<>();
    for (int hour : values(cron.hours())) {
      for (int minute : values(cron.minutes())) {
        for (int second : values(cron.seconds())) {
          times.add(time(hour, minute, second));
        }
      }
    }
    return join(times);
  }

  private String time(int hour, int minute, int second) {
    String time = twoDigits(hour) + ":" + twoDigits(minute);
    return cron.seconds() == ZERO_ONLY ? time : time + ":" + twoDigits(second);
  }

  /** Whether it is said as "every n hours", which is of every day. */
  private boolean evenHours() {
    return cron.minutes() == ZERO_ONLY
        && cron.seconds() == ZERO_ONLY
        && count(cron.hours()) > LISTED_TIMES
        && step(cron.hours(), CronField.HOUR) > 0;
  }

  private String days() {
    boolean anyMonthDay = cron.daysOfMonth().any();
    boolean anyWeekday = cron.daysOfWeek().any();
    if ((anyMonthDay && anyWeekday) || (!cron.bothMustMatch() && (anyMonthDay || anyWeekday))) {
      return everyDay();
    }
    if (anyMonthDay) {
      return weekdays();
    }
    if (anyWeekday) {
      return monthDays();
    }
    return monthDays() + (cron.bothMustMatch() ? ", only " : " or ") + weekdays();
  }

  private String everyDay() {
    String day = everyHour || evenHours() ? "" : "every day";
    return (day + inMonths()).strip();
  }

  private String monthDays() {
    DaysOfMonth days = cron.daysOfMonth();
    List<String> words = new ArrayList<>();
    if (days.days() != 0) {
      words.add(named("day", Integer.toUnsignedLong(days.days()), Integer::toString));
    }
    for (int before : values(days.beforeLast())) {
      words.add(before == 0 ? "the last day" : "the " + ordinal(before) + " day before the last");
    }
    for (int day : values(Integer.toUnsignedLong(days.nearest()))) {
      words.add("the working day nearest to day " + day);
    }
    if (days.lastWorking()) {
      words.add("the last working day");
    }
    return "on " + join(words) + ofMonths();
  }

  private String weekdays() {
    DaysOfWeek days = cron.daysOfWeek();
    List<String> words = new ArrayList<>();
    for (int bit : values(days.ordinals())) {
      words.add("the " + ORDINALS.get(bit / 7) + " " + weekday(bit % 7));
    }
    for (int weekday : values(days.lasts())) {
      words.add("the last " + weekday(weekday));
    }
    String inMonth = words.isEmpty() ? "" : "on " + join(words) + ofMonths();
    if (days.weekdays() == 0) {
      return inMonth;
    }
    String plain = "on " + set(sundayLast(days.weekdays()), CronWords::weekday) + inMonths();
    return inMonth.isEmpty() ? plain : plain + " and " + inMonth;
  }

  private String ofMonths() {
    return isEveryMonth() ? " of every month" : " of " + months();
  }

  private String inMonths() {
    return isEveryMonth() ? "" : " in " + months();
  }

  private boolean isEveryMonth() {
    return cron.months() == CronField.MONTH.all();
  }

  private String months() {
    return set(cron.months(), n -> Month.of(n).getDisplayName(TextStyle.FULL, Locale.ENGLISH));
  }

  /** Weekdays as they are counted in words: Monday first. */
  private static long sundayLast(int weekdays) {
    return (weekdays & ~1L) | ((weekdays & 1L) << 7);
  }

  private static String weekday(int n) {
    return DayOfWeek.of(n == 0 ? 7 : n).getDisplayName(TextStyle.FULL, Locale.ENGLISH);
  }

  /** n if the values are all multiples of n, up to the end of the field without rest; else 0. */
  private static int step(long mask, CronField field) {
    int size = field.last + 1;
    int step = size / count(mask);
    for (int value = 0; value < size; value++) {
      if (((mask >>> value) & 1) != (value % step == 0 ? 1 : 0)) {
        return 0;
      }
    }
    return size % step == 0 && count(mask) > 1 ? step : 0;
  }

  private static boolean isRun(long mask) {
    return mask == CronField.bits(first(mask), last(mask));
  }

  /** "day 1" or "days 1, 15 and 20 to 25". */
  private static String named(String noun, long mask, IntFunction<String> word) {
    return noun + (count(mask) == 1 ? " " : "s ") + set(mask, word);
  }

  /** "1 minute" or "5, 10 and 37 minutes". */
  private static String counted(String noun, long mask) {
    return set(mask, Integer::toString) + " " + noun + (mask == 1L << 1 ? "" : "s");
  }

  /** "1, 15 and 20 to 25". */
  private static String set(long mask, IntFunction<String> word) {
    List<String> words = new ArrayList<>();
    int value = 0;
    while (mask >>> value != 0) {
      int start = value + Long.numberOfTrailingZeros(mask >>> value);
      int end = start + Long.numberOfTrailingZeros(~(mask >>> start));
      value = end;
      if (end - start >= RUN) {
        words.add(word.apply(start) + " to " + word.apply(end - 1));
      } else {
        for (int i = start; i < end; i++) {
          words.add(word.apply(i));
        }
      }
    }
    return join(words);
  }

  private static String join(List<String> words) {
    int last = words.size() - 1;
    return last == 0
        ? words.getFirst()
        : String.join(", ", words.subList(0, last)) + " and " + words.get(last);
  }

  private static String ordinal(int n) {
    boolean teen = n / 10 == 1;
    return n
        + switch (teen ? 0 : n % 10) {
          case 1 -> "st";
          case 2 -> "nd";
          case 3 -> "rd";
          default -> "th";
        };
  }

  private static String twoDigits(int n) {
    return n < 10 ? "0" + n : Integer.toString(n);
  }

  private static int[] values(long mask) {
    var values = new int[count(mask)];
    long rest = mask;
    for (int i = 0; i < values.length; i++) {
      values[i] = first(rest);
      rest &= rest - 1;
    }
    return values;
  }

  private static int count(long mask) {
    return Long.bitCount(mask);
  }

  private static int first(long mask) {
    return Long.numberOfTrailingZeros(mask);
  }

  private static int last(long mask) {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(mask);
  }
}
