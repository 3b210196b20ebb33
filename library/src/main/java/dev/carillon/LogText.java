package dev.carillon;

import java.util.Locale;

/** Text of users' as it may stand in a log: on one line, without control characters, and short. */
final class LogText {
  private static final int MOST_CHARS = 300;
  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private LogText() {}

  /** The text on one line: what could begin another line, or move a terminal, is shown by code. */
  static String safe(String text) {
    int end = Math.min(text.length(), MOST_CHARS);
    StringBuilder out = new StringBuilder(end + 1);
    for (int i = 0; i < end; i++) {
      append(text.charAt(i), out);
    }
    return end < text.length() ? out.append('…').toString() : out.toString();
  }

  private static void append(char c, StringBuilder out) {
    if (c == '\n') {
      out.append("\\n");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (c == '\t') {
      out.append(' ');
    } else if (moves(c)) {
      out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
    } else {
      out.append(c);
    }
  }

  /** Controls, line and paragraph separators, and marks that turn the direction of text. */
  private static boolean moves(char c) {
    int type = Character.getType(c);
    return Character.isISOControl(c)
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR
        || type == Character.FORMAT
        || c == BYTE_ORDER_MARK;
  }

  /**
   * A stack trace under a line of the log. Each of its lines is indented, so that no message in it
   * looks like a line of the log.
   */
  static String stack(String stack) {
    StringBuilder out = new StringBuilder(stack.length() + 64);
    for (String line : stack.split("\\R", -1)) {
      if (!line.isBlank()) {
        boolean frame = line.startsWith("\tat ") || line.startsWith("\t... ");
        out.append(frame ? "\n\t\t" : "\n\t").append(safe(line.strip()));
      }
    }
    return out.toString();
  }

  /** A span of time as people say it. */
  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }
}
