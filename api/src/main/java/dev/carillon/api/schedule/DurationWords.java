package dev.carillon.api.schedule;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Lengths of time in words. */
final class DurationWords {
  private DurationWords() {}

  /** Such as "1 hour 30 minutes". */
  static String of(Duration duration) {
    List<String> words = new ArrayList<>();
    add(words, duration.toDays(), "day");
    add(words, duration.toHoursPart(), "hour");
    add(words, duration.toMinutesPart(), "minute");
    add(words, duration.toSecondsPart(), "second");
    add(words, duration.toMillisPart(), "millisecond");
    add(words, duration.toNanosPart() / 1_000 % 1_000, "microsecond");
    return String.join(" ", words);
  }

  /** The same after "every": "hour" rather than "1 hour". */
  static String every(Duration duration) {
    String words = of(duration);
    boolean oneUnit = words.indexOf(' ') == words.lastIndexOf(' ');
    return oneUnit && words.startsWith("1 ") ? words.substring(2) : words;
  }

  private static void add(List<String> words, long count, String unit) {
    if (count != 0) {
      words.add(count + " " + unit + (count == 1 ? "" : "s"));
    }
  }
}
