package dev.carillon.cli.remote;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.Due;
import dev.carillon.cli.client.CommandFailure;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as the commands write them: those of the API, and {@code 2d}, {@code 1d 6h}. */
final class Durations {
  private static final Pattern DAYS = Pattern.compile("(\\d{1,9})d\\s*(.*)");
  private static final int SECONDS_A_DAY = 86_400;

  private Durations() {}

  /** As the API reads it; what it would refuse stays as it is. */
  static String api(String text) {
    Matcher days = DAYS.matcher(text.strip());
    if (!days.matches()) {
      return text;
    }
    try {
      Duration rest = days.group(2).isEmpty() ? Duration.ZERO : plain(days.group(2));
      return rest.plusSeconds(Long.parseLong(days.group(1)) * SECONDS_A_DAY).toString();
    } catch (CarillonException e) {
      return text;
    }
  }

  /** The duration of an option. */
  static Duration of(String option, String text) {
    try {
      return plain(api(text));
    } catch (CarillonException e) {
      throw CommandFailure.invalid(option, text, "a duration such as 90s, 5m, 2d or PT90S");
    }
  }

  private static Duration plain(String text) {
    return Due.parse(text) instanceof Due.In in ? in.delay() : notOne(text);
  }

  private static Duration notOne(String text) {
    throw CommandFailure.invalid("duration", text, "one such as 90s, 5m, 2d or PT90S");
  }
}
