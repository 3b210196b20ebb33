package dev.carillon.cli.text;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/** Times in words, as seen from a moment, and exactly. */
public final class Times {
  private static final Duration LONG = Duration.ofDays(100);
  private static final int MINUTE_MILLIS = 60_000;
  private static final int YEAR = 365;
  private static final int TWO_YEARS = 2 * YEAR;

  private Times() {}

  /** In words: {@code in 2h 5m}, {@code 3d ago}, {@code now}. */
  public static String words(Instant time, Instant now) {
    Duration ahead = Duration.between(now, time);
    String length = length(ahead.abs());
    if (length.isEmpty()) {
      return "now";
    }
    return ahead.isNegative() ? length + " ago" : "in " + length;
  }

  /** Exactly, in UTC, as every option takes it: {@code 2026-03-01T08:00:00.250Z}. */
  public static String exact(Instant time) {
    return time.truncatedTo(ChronoUnit.MILLIS).toString();
  }

  /** Both: {@code in 2h 5m (2026-03-01T08:00:00Z)}. */
  public static String both(Instant time, Instant now) {
    return words(time, now) + " (" + exact(time) + ")";
  }

  /** A length in its largest unit, below ten of it with the next one; empty below a second. */
  public static String length(Duration length) {
    if (length.compareTo(LONG) >= 0) {
      long days = length.toDays();
      return days < TWO_YEARS ? days + "d" : days / YEAR + "y";
    }
    List<String> parts = new ArrayList<>();
    add(parts, length.toDays(), "d");
    add(parts, length.toHoursPart(), "h");
    add(parts, length.toMinutesPart(), "m");
    add(parts, length.toSecondsPart(), "s");
    boolean both =
        parts.size() > 1
            && parts.getFirst().length() == 2
            && areNeighbours(parts.get(0), parts.get(1));
    return parts.isEmpty() ? "" : both ? parts.get(0) + " " + parts.get(1) : parts.getFirst();
  }

  /** A short length: {@code 350ms}, {@code 2.5s}, {@code 3m 2s}. */
  public static String took(Duration length) {
    long millis = length.toMillis();
    if (millis < 1_000) {
      return millis + "ms";
    }
    if (millis >= MINUTE_MILLIS) {
      return length(length);
    }
    long tenth = millis / 100 % 10;
    return millis / 1_000 + (tenth == 0 ? "" : "." + tenth) + "s";
  }

  private static void add(List<String> parts, long count, String unit) {
    if (count > 0) {
      parts.add(count + unit);
    }
  }

  private static boolean areNeighbours(String first, String second) {
    String units = "dhms";
    return units.indexOf(second.charAt(second.length() - 1))
        == units.indexOf(first.charAt(first.length() - 1)) + 1;
  }
}
