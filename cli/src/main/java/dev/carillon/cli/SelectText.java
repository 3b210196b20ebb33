package dev.carillon.cli;

import java.util.Locale;
import java.util.Set;

/**
 * Tells one statement that only asks from anything else, before a database sees it: SQLite refuses
 * to change a database opened for asking, but still attaches others, making their files, and its
 * driver drops what follows the first statement.
 */
final class SelectText {
  private static final Set<String> ASKING = Set.of("select", "with", "values", "explain");
  private static final String EXPECTED =
      " (expected: one statement that starts with select, with, values or explain)";
  private static final int MAX_CHARS = 100;

  private final String sql;

  private SelectText(String sql) {
    this.sql = sql;
  }

  /**
   * Refuses everything but one statement that asks.
   *
   * @throws IllegalArgumentException if it is something else, with what was expected
   */
  static void check(String sql) {
    SelectText text = new SelectText(sql);
    int start = text.skipBlank(0);
    if (start == sql.length()) {
      throw new IllegalArgumentException("SQL: nothing" + EXPECTED);
    }
    if (!ASKING.contains(text.word(start))) {
      throw new IllegalArgumentException("SQL: " + shortened(sql.substring(start)) + EXPECTED);
    }
    int second = text.afterSemicolons(text.endOfStatement(start));
    if (second < sql.length()) {
      throw new IllegalArgumentException(
          "SQL: a second statement: " + shortened(sql.substring(second)) + EXPECTED);
    }
  }

  private static String shortened(String text) {
    return text.length() <= MAX_CHARS ? text : text.substring(0, MAX_CHARS) + "…";
  }

  private String word(int start) {
    int end = start;
    while (end < sql.length() && Character.isJavaIdentifierPart(sql.charAt(end))) {
      end++;
    }
    return sql.substring(start, end).toLowerCase(Locale.ROOT);
  }

  /** The place of the semicolon that is no part of a text, name or comment; the end for none. */
  private int endOfStatement(int start) {
    int at = start;
    while (at < sql.length() && sql.charAt(at) != ';') {
      int behind = skipBlank(at);
      at = behind > at ? behind : skipToken(at);
    }
    return at;
  }

  private int afterSemicolons(int start) {
    int at = start;
    while (at < sql.length() && sql.charAt(at) == ';') {
      at = skipBlank(at + 1);
    }
    return at;
  }

  /** One character, or all of a quoted text or name. A doubled quote is two texts, side by side. */
  private int skipToken(int at) {
    return switch (sql.charAt(at)) {
      case '\'', '"', '`' -> after(sql.substring(at, at + 1), at + 1);
      case '[' -> after("]", at + 1);
      default -> at + 1;
    };
  }

  /** White space and comments. */
  private int skipBlank(int start) {
    int at = start;
    while (at < sql.length()) {
      if (Character.isWhitespace(sql.charAt(at))) {
        at++;
      } else if (sql.startsWith("--", at)) {
        at = after("\n", at + 2);
      } else if (sql.startsWith("/*", at)) {
        at = after("*/", at + 2);
      } else {
        break;
      }
    }
    return at;
  }

  private int after(String end, int from) {
    int found = sql.indexOf(end, from);
    return found < 0 ? sql.length() : found + end.length();
  }
}
