package dev.carillon.cli.text;

/**
 * Texts without anything that a terminal obeys. Names, reasons and errors of jobs come from whoever
 * schedules them.
 */
public final class PlainText {
  private static final String NEW_LINE = " ⏎ ";

  private PlainText() {}

  /**
   * The text on one line: line breaks are marked, control and direction characters are {@code ?}.
   */
  public static String line(String text) {
    StringBuilder line = new StringBuilder(text.length());
    text.strip().replace("\r\n", "\n").codePoints().forEach(c -> add(line, c));
    return line.toString();
  }

  /** The text with its line breaks and tabs, and no other control or direction characters. */
  public static String lines(String text) {
    StringBuilder lines = new StringBuilder(text.length());
    text.codePoints()
        .forEach(c -> lines.appendCodePoint(c == '\n' || c == '\t' || isHarmless(c) ? c : '?'));
    return lines.toString();
  }

  private static void add(StringBuilder line, int c) {
    switch (c) {
      case '\n', '\r', 0x2028, 0x2029 -> line.append(NEW_LINE);
      case '\t' -> line.append(' ');
      default -> line.appendCodePoint(isHarmless(c) ? c : '?');
    }
  }

  private static boolean isHarmless(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }

  /** How many columns it takes; wide characters of some scripts count as one. */
  static int width(String text) {
    return text.codePointCount(0, text.length());
  }

  /** The text, cut to a width. */
  static String cut(String text, int width) {
    if (width(text) <= width) {
      return text;
    }
    return width <= 0 ? "" : text.substring(0, text.offsetByCodePoints(0, width - 1)) + "…";
  }
}
