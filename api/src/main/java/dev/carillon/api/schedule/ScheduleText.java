package dev.carillon.api.schedule;

import dev.carillon.api.Limits;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the text of a schedule says; the grammar stands at {@link Schedule#parse}. */
sealed interface ScheduleText {

  /**
   * A cron expression.
   *
   * @param expression its text without zone, with single blanks
   * @param zone the zone that the text names, or null
   */
  record OfCron(Cron cron, String expression, @Nullable ZoneId zone) implements ScheduleText {}

  /** {@code @every}. */
  record OfPeriod(Duration period) implements ScheduleText {}

  /** Reads a text. */
  static ScheduleText parse(@Nullable String given) {
    return new Reader(checked("schedule", given)).schedule();
  }

  /** A text that is there and not too long. */
  static String checked(String what, @Nullable String given) {
    String text = ScheduleCheck.present(what, given);
    if (text.length() > Limits.SCHEDULE_MAX_CHARS) {
      throw ScheduleCheck.invalid(
          what,
          text,
          Limits.SCHEDULE_MAX_CHARS,
          text.length(),
          "at most " + Limits.SCHEDULE_MAX_CHARS + " characters, has " + text.length());
    }
    return text;
  }

  /** The first place, from the given one on, that is not a blank. */
  static int skipBlanks(String text, int from) {
    int at = from;
    while (at < text.length() && isBlank(text.charAt(at))) {
      at++;
    }
    return at;
  }

  /** The first place, from the given one on, that is a blank or the end. */
  static int skipWord(String text, int from) {
    int at = from;
    while (at < text.length() && !isBlank(text.charAt(at))) {
      at++;
    }
    return at;
  }

  private static boolean isBlank(char c) {
    return c == ' ' || c == '\t';
  }

  /** Reads the text from left to right. */
  final class Reader {
    private static final String EVERY = "@every";
    private static final Map<String, String> WORDS =
        Map.of(
            "@yearly", "0 0 1 1 *",
            "@annually", "0 0 1 1 *",
            "@monthly", "0 0 1 * *",
            "@weekly", "0 0 * * 0",
            "@daily", "0 0 * * *",
            "@midnight", "0 0 * * *",
            "@hourly", "0 * * * *");
    private static final String EXPECTED_WORDS =
        "@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or @every";

    private final String text;
    private int at;

    private Reader(String text) {
      this.text = text;
      this.at = skipBlanks(text, 0);
    }

    private ScheduleText schedule() {
      int start = at;
      ZoneId zone = zone();
      if (at == text.length() || text.charAt(at) != '@') {
        return new OfCron(CronParser.parse(text, at), rest(), zone);
      }
      int end = skipWord(text, at);
      String word = lower(text.substring(at, end));
      if (word.equals(EVERY)) {
        if (zone != null) {
          throw ScheduleCheck.invalid(
              "zone", text, start, skipWord(text, start), "no zone before @every");
        }
        return new OfPeriod(period(skipBlanks(text, end)));
      }
      String expression = WORDS.get(word);
      if (expression == null) {
        throw ScheduleCheck.invalid("schedule", text, at, end, EXPECTED_WORDS);
      }
      expectEnd(skipBlanks(text, end));
      return new OfCron(CronParser.parse(expression, 0), word, zone);
    }

    /** {@code TZ=Zone} or {@code CRON_TZ=Zone} and the blanks after it. */
    private @Nullable ZoneId zone() {
      if (!text.startsWith("TZ=", at) && !text.startsWith("CRON_TZ=", at)) {
        return null;
      }
      int start = text.indexOf('=', at) + 1;
      int end = skipWord(text, start);
      at = skipBlanks(text, end);
      try {
        return ZoneId.of(text.substring(start, end));
      } catch (DateTimeException e) {
        throw ScheduleCheck.invalid("zone", text, start, end, ScheduleCheck.ZONES);
      }
    }

    private Duration period(int start) {
      int end = skipWord(text, start);
      expectEnd(skipBlanks(text, end));
      Duration period = DurationText.parse("period", text, start, end, DurationText.EXPECTED);
      if (!period.isPositive() || period.compareTo(Limits.PERIOD_MAX) > 0) {
        throw ScheduleCheck.invalid(
            "period", text, start, end, "above zero and at most " + Limits.PERIOD_MAX);
      }
      return period;
    }

    private void expectEnd(int place) {
      if (place < text.length()) {
        throw ScheduleCheck.invalid("schedule", text, place, text.length(), "nothing more");
      }
    }

    /** With the letters A to Z in lower case, and no other: so are all words. */
    private static String lower(String word) {
      StringBuilder lower = new StringBuilder(word);
      for (int i = 0; i < word.length(); i++) {
        char c = word.charAt(i);
        if (c >= 'A' && c <= 'Z') {
          lower.setCharAt(i, (char) (c - 'A' + 'a'));
        }
      }
      return lower.toString();
    }

    private String rest() {
      return text.substring(at).strip().replaceAll("[ \t]+", " ");
    }
  }
}
