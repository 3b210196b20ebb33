package dev.carillon.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** An aligned table: numbers to the right, the rest to the left, one row a line. */
final class TextTable {
  private static final int WIDEST = 80;

  private TextTable() {}

  static void print(List<String> columns, List<List<@Nullable Object>> rows, PrintWriter out) {
    int[] widths = columns.stream().mapToInt(String::length).toArray();
    for (List<@Nullable Object> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], text(row.get(i)).length());
      }
    }
    out.println(line(columns.stream().map(column -> (Object) column).toList(), widths));
    out.println(IntStream.of(widths).mapToObj("-"::repeat).collect(Collectors.joining("  ")));
    for (List<@Nullable Object> row : rows) {
      out.println(line(row, widths));
    }
    out.println(rows.size() == 1 ? "1 row" : rows.size() + " rows");
  }

  private static String line(List<? extends @Nullable Object> row, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      Object value = row.get(i);
      String text = text(value);
      String space = " ".repeat(widths[i] - text.length());
      line.append(i == 0 ? "" : "  ");
      line.append(value instanceof Number ? space + text : text + space);
    }
    return line.toString().stripTrailing();
  }

  /** On one line and not wider than a screen. */
  private static String text(@Nullable Object value) {
    String text = value == null ? "" : value.toString().replaceAll("\\R", " ⏎ ");
    return text.length() <= WIDEST ? text : text.substring(0, WIDEST - 1) + "…";
  }
}
