package dev.carillon.api.schedule;

/** The fields of a cron expression in their order, with the values they take. */
enum CronField {
  SECOND("second", 0, 59, ""),
  MINUTE("minute", 0, 59, ""),
  HOUR("hour", 0, 23, ""),
  DAY("day of month", 1, 31, ""),
  MONTH("month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"),
  /** From Sunday, 0, to Saturday; also 7 is read as Sunday. */
  WEEKDAY("day of week", 0, 6, "SUNMONTUEWEDTHUFRISAT");

  /** What messages call it. */
  final String title;

  final int first;
  final int last;

  /** Names of the values from {@link #first} on, three letters each; empty if there are none. */
  private final String names;

  CronField(String title, int first, int last, String names) {
    this.title = title;
    this.first = first;
    this.last = last;
    this.names = names;
  }

  boolean isDay() {
    return this == DAY || this == WEEKDAY;
  }

  /** The highest number that is read. */
  int highest() {
    return this == WEEKDAY ? 7 : last;
  }

  /** The bit of a value, the two Sundays being one. */
  long bit(int value) {
    return 1L << (this == WEEKDAY ? value % 7 : value);
  }

  /** How many steps of one lead from a value to another; below zero if none do. */
  int distance(int from, int to) {
    return this == WEEKDAY && to < from ? to + 7 - from : to - from;
  }

  /** The value whose name stands at a place of a text; below zero if none does. */
  int named(String text, int at) {
    if (at + 3 > text.length()) {
      return -1;
    }
    int index = names.indexOf(text.substring(at, at + 3));
    return index >= 0 && index % 3 == 0 ? first + index / 3 : -1;
  }

  /** The mask of all values. */
  long all() {
    return bits(first, last);
  }

  /** What messages say is expected. */
  String range() {
    String numbers = first + " to " + highest();
    return names.isEmpty()
        ? numbers
        : numbers + " or " + names.substring(0, 3) + " to " + names.substring(names.length() - 3);
  }

  /** The mask of consecutive values. */
  static long bits(int from, int to) {
    return (-1L << from) & (-1L >>> (63 - to));
  }
}
