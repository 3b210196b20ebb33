package dev.carillon.api.schedule;

/**
 * The day-of-month field of a cron expression.
 *
 * @param days bit n: day n
 * @param beforeLast bit n: the day n days before the last, {@code L} being bit 0
 * @param nearest bit n: the working day nearest to day n, {@code nW}
 * @param lastWorking {@code LW}
 * @param open whether the field begins with {@code *} or {@code ?}
 */
record DaysOfMonth(int days, int beforeLast, int nearest, boolean lastWorking, boolean open) {
  private static final int SATURDAY = 6;
  private static final int SUNDAY = 0;

  /** The days of a month with so many days whose first is this weekday; bit n is day n. */
  int in(int length, int firstWeekday) {
    int found = days;
    for (int rest = beforeLast; rest != 0; rest &= rest - 1) {
      int day = length - Integer.numberOfTrailingZeros(rest);
      found |= day >= 1 ? 1 << day : 0;
    }
    for (int rest = nearest; rest != 0; rest &= rest - 1) {
      int day = Integer.numberOfTrailingZeros(rest);
      found |= day <= length ? 1 << workingDay(day, length, firstWeekday) : 0;
    }
    if (lastWorking) {
      found |= 1 << workingDay(length, length, firstWeekday);
    }
    return found & all(length);
  }

  /** Every day of a month with so many days. */
  static int all(int length) {
    return -2 & (-1 >>> (31 - length));
  }

  /** The working day nearest to a day, in the same month. */
  private static int workingDay(int day, int length, int firstWeekday) {
    return switch ((firstWeekday + day - 1) % 7) {
      case SATURDAY -> day > 1 ? day - 1 : day + 2;
      case SUNDAY -> day < length ? day + 1 : day - 2;
      default -> day;
    };
  }

  /** Whether it takes every day. */
  boolean any() {
    return days == all(31);
  }
}
