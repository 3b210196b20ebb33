package dev.carillon.server.webhook;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The header {@code Retry-After}: seconds, or a date. */
final class RetryAfter {
  /** A receiver delays a retry by no more than that, whatever it says. */
  static final Duration MOST = Duration.ofDays(1);

  private static final int DIGITS_MAX = 9;

  private RetryAfter() {}

  /**
   * How long to wait, at most {@link #MOST}; null where the header is missing or makes no sense.
   */
  static @Nullable Duration of(@Nullable String value, Instant now) {
    if (value == null) {
      return null;
    }
    Duration said;
    if (!value.isEmpty() && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
      said = value.length() > DIGITS_MAX ? MOST : Duration.ofSeconds(Long.parseLong(value));
    } else {
      try {
        DateTimeFormatter format = DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT);
        said = Duration.between(now, ZonedDateTime.parse(value, format));
      } catch (DateTimeException e) {
        return null;
      }
    }
    if (said.isNegative()) {
      return Duration.ZERO;
    }
    return said.compareTo(MOST) < 0 ? said : MOST;
  }
}
