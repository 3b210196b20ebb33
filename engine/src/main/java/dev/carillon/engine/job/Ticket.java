package dev.carillon.engine.job;

import dev.carillon.api.JobId;
import org.jspecify.annotations.Nullable;

/**
 * The name of a job that was written in a transaction of its user's: known before the job has a
 * place, and its id for ever. It stands as the key of the job's spec, so that its record, which
 * says where the job is, lives and goes as those of idempotency keys do.
 */
public final class Ticket {
  private static final String PREFIX = "t";
  private static final int HEX_DIGITS = 32;

  private Ticket() {}

  /** A ticket of 128 random bits. */
  public static String of(long high, long low) {
    return PREFIX + "%016x%016x".formatted(high, low);
  }

  /** Whether a text is one. */
  public static boolean is(@Nullable String text) {
    if (text == null || text.length() != PREFIX.length() + HEX_DIGITS || !text.startsWith(PREFIX)) {
      return false;
    }
    return text.chars().skip(PREFIX.length()).allMatch(Ticket::isHexDigit);
  }

  private static boolean isHexDigit(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  }

  /** The key of the record that says where its job is. */
  public static String recordKey(String ticket) {
    return "t\0" + ticket;
  }

  /** The place that the record of a ticket tells. */
  public static JobRef place(byte[] value) {
    return Names.Value.decode(value).job();
  }

  /** The id of the job in a place, as users know it. */
  public static JobId id(JobRef place, @Nullable String key) {
    return key != null && is(key) ? new JobId(key) : place.id();
  }
}
