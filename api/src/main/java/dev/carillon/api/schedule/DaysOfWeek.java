package dev.carillon.api.schedule;

/**
 * The day-of-week field of a cron expression.
 *
 * @param weekdays bit n: weekday n, from Sunday, 0
 * @param lasts bit n: the last weekday n of the month, {@code nL}
 * @param ordinals bit 7·i + n: the weekday n that comes as number i, from 1, {@code n#i}
 * @param open whether the field begins with {@code *} or {@code ?}
 */
record DaysOfWeek(int weekdays, int lasts, long ordinals, boolean open) {
  /** Multiplied with seven bits, repeats them six times. */
  private static final long REPEAT =
      1L | (1L << 7) | (1L << 14) | (1L << 21) | (1L << 28) | (1L << 35);

  /** The days of a month with so many days whose first is this weekday; bit n is day n. */
  int in(int length, int firstWeekday) {
    int found = (int) (((weekdays * REPEAT) >>> firstWeekday) << 1);
    for (int rest = lasts; rest != 0; rest &= rest - 1) {
      int day = first(Integer.numberOfTrailingZeros(rest), firstWeekday) + 28;
      found |= 1 << (day <= length ? day : day - 7);
    }
    for (long rest = ordinals; rest != 0; rest &= rest - 1) {
      int bit = Long.numberOfTrailingZeros(rest);
      int day = first(bit % 7, firstWeekday) + (bit / 7 - 1) * 7;
      found |= day <= length ? 1 << day : 0;
    }
    return found & DaysOfMonth.all(length);
  }

  /** The first day that is the weekday. */
  private static int first(int weekday, int firstWeekday) {
    return 1 + Math.floorMod(weekday - firstWeekday, 7);
  }

  static long ordinal(int weekday, int number) {
    return 1L << (7 * number + weekday);
  }

  /** Whether it takes every day. */
  boolean any() {
    return weekdays == CronField.WEEKDAY.all();
  }
}
