package dev.carillon.api.internal;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The checks behind the values of this package. Messages read {@code name: value (expected: …)},
 * with text quoted, escaped and cut, so that a hostile value can neither flood nor forge a log.
 */
public final class Check {

  private static final int SHOWN_CHARS = 80;
  private static final int MALFORMED = -1;

  private Check() {}

  /** The message for a refused value. */
  public static String problem(String what, @Nullable Object value, String expected) {
    return what + ": " + shown(value) + " (expected: " + expected + ")";
  }

  public static InvalidJobException invalid(String what, @Nullable Object value, String expected) {
    return new InvalidJobException(problem(what, value, expected));
  }

  /** Makes what is thrown for a refused value. */
  public interface Refusal {
    InvalidArgumentException of(String what, @Nullable Object value, String expected);
  }

  /** Anything but null, which would be a caller's bug in a job. */
  public static <T> T present(String what, @Nullable T value) {
    return present(what, value, Check::invalid);
  }

  public static <T> T present(String what, @Nullable T value, Refusal refusal) {
    if (value == null) {
      throw refusal.of(what, null, "not null");
    }
    return value;
  }

  /** Anything but null, for arguments that are no part of a job. */
  public static <T> T argument(String what, @Nullable T value) {
    return present(what, value, InvalidArgumentException::of);
  }

  /** A name of some kind: text within the limit, not blank and without control characters. */
  public static String label(String what, @Nullable String value, int maxBytes) {
    String text = text(what, value, maxBytes);
    if (text.isBlank()) {
      throw invalid(what, text, "not blank");
    }
    for (int i = 0; i < text.length(); i++) {
      if (Character.isISOControl(text.charAt(i))) {
        throw invalid(what, text, "no control characters");
      }
    }
    return text;
  }

  /** Text that survives UTF-8 unchanged and fits the limit; it may be empty. */
  public static String text(String what, @Nullable String value, int maxBytes) {
    String text = present(what, value);
    long bytes = utf8Bytes(text);
    if (bytes == MALFORMED) {
      throw invalid(what, text, "no unpaired surrogates");
    }
    if (bytes > maxBytes) {
      throw invalid(what, text, "at most " + maxBytes + " UTF-8 bytes, is " + bytes);
    }
    return text;
  }

  public static int range(String what, int value, int min, int max) {
    if (value < min || value > max) {
      throw invalid(what, value, min + " to " + max);
    }
    return value;
  }

  public static <T extends Comparable<T>> T range(String what, @Nullable T value, T min, T max) {
    return range(what, value, min, max, Check::invalid);
  }

  public static <T extends Comparable<T>> T range(
      String what, @Nullable T value, T min, T max, Refusal refusal) {
    T present = present(what, value, refusal);
    if (present.compareTo(min) < 0 || present.compareTo(max) > 0) {
      throw refusal.of(what, present, min + " to " + max);
    }
    return present;
  }

  /** Metadata within its limits, copied. */
  public static Map<String, String> metadata(@Nullable Map<String, String> metadata) {
    Map<String, String> given = present("metadata", metadata);
    if (given.size() > Limits.METADATA_MAX_ENTRIES) {
      throw invalid("metadata entries", given.size(), "at most " + Limits.METADATA_MAX_ENTRIES);
    }
    long bytes = 0;
    for (Map.Entry<String, String> entry : given.entrySet()) {
      String key = label("metadata key", entry.getKey(), Limits.METADATA_MAX_BYTES);
      String value = text("metadata value", entry.getValue(), Limits.METADATA_MAX_BYTES);
      bytes += utf8Bytes(key) + utf8Bytes(value);
    }
    if (bytes > Limits.METADATA_MAX_BYTES) {
      throw invalid("metadata bytes", bytes, "at most " + Limits.METADATA_MAX_BYTES);
    }
    return sorted(given);
  }

  /**
   * An unmodifiable copy in key order. The order of {@code Map.copyOf} differs from one process to
   * the next, and what is written of a job must not.
   */
  public static Map<String, String> sorted(Map<String, String> map) {
    return map.isEmpty() ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(map));
  }

  /** The length in UTF-8, or {@link #MALFORMED} if a surrogate has no partner. */
  private static long utf8Bytes(String text) {
    long bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        bytes += 1;
      } else if (c < 0x800) {
        bytes += 2;
      } else if (!Character.isSurrogate(c)) {
        bytes += 3;
      } else if (isPair(text, i)) {
        bytes += 4;
        i++;
      } else {
        return MALFORMED;
      }
    }
    return bytes;
  }

  private static boolean isPair(String text, int at) {
    return at + 1 < text.length()
        && Character.isSurrogatePair(text.charAt(at), text.charAt(at + 1));
  }

  /** At most this many characters of the text, with unpaired surrogates replaced. */
  public static String cut(String text, int maxChars) {
    int end = Math.min(text.length(), maxChars);
    if (end < text.length() && end > 0 && isPair(text, end - 1)) {
      end--;
    }
    String head = text.substring(0, end);
    return utf8Bytes(head) == MALFORMED ? repaired(head) : head;
  }

  /** As much of the text as fits the limit in UTF-8, with unpaired surrogates replaced. */
  public static String cutToBytes(String text, int maxBytes) {
    String head = cut(text, maxBytes);
    long bytes = utf8Bytes(head);
    while (bytes > maxBytes) {
      head = cut(head, head.length() - (int) Math.ceilDiv(bytes - maxBytes, 3));
      bytes = utf8Bytes(head);
    }
    return head;
  }

  private static String repaired(String text) {
    var repaired = new StringBuilder(text);
    for (int i = 0; i < repaired.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (isPair(text, i)) {
          i++;
        } else {
          repaired.setCharAt(i, '\uFFFD');
        }
      }
    }
    return repaired.toString();
  }

  /** A value as messages show it. */
  public static String shown(@Nullable Object value) {
    if (!(value instanceof String text)) {
      return String.valueOf(value);
    }
    var shown = new StringBuilder("\"");
    text.chars().limit(SHOWN_CHARS).forEach(c -> escape(shown, (char) c));
    return shown.append(text.length() > SHOWN_CHARS ? "…\"" : "\"").toString();
  }

  private static void escape(StringBuilder shown, char c) {
    if (c == '"' || c == '\\') {
      shown.append('\\').append(c);
    } else if (Character.isISOControl(c) || Character.isSurrogate(c)) {
      shown.append(String.format("\\u%04X", (int) c));
    } else {
      shown.append(c);
    }
  }
}
