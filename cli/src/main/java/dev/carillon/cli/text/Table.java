package dev.carillon.cli.text;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A table for a screen or a pipe. On a screen it has a heading and fits the width: columns that may
 * be cut are, the widest first, and then those that may be left out are, the last first. In a pipe
 * it has no heading, whole values and tabs between them.
 *
 * <p>Not thread-safe.
 */
public final class Table {
  private static final int SHORTEST_CUT = 8;
  private static final String GAP = "  ";

  /** What may happen to a column for want of width. */
  public enum Fit {
    /** Nothing: it is copied into the next command. */
    WHOLE,
    /** It is cut. */
    CUT,
    /** It is cut, then left out. */
    OPTIONAL
  }

  /**
   * A column.
   *
   * @param title the heading
   * @param fit what may happen to it
   * @param number whether its values stand at the right
   */
  public record Column(String title, Fit fit, boolean number) {
    /** Text that is never cut. */
    public static Column whole(String title) {
      return new Column(title, Fit.WHOLE, false);
    }

    /** Text that may be cut. */
    public static Column cut(String title) {
      return new Column(title, Fit.CUT, false);
    }

    /** Text that may be left out. */
    public static Column optional(String title) {
      return new Column(title, Fit.OPTIONAL, false);
    }

    /** Numbers. */
    public static Column number(String title) {
      return new Column(title, Fit.WHOLE, true);
    }
  }

  /**
   * A value.
   *
   * @param text what stands there
   * @param paint its colour
   */
  public record Cell(String text, Paint paint) {
    /** Takes out what a terminal would obey. */
    public Cell {
      text = PlainText.line(text);
    }

    /** A value without colour; nothing for null. */
    public static Cell of(@Nullable Object value) {
      return new Cell(value == null ? "" : value.toString(), Paint.PLAIN);
    }
  }

  private final List<Column> columns;
  private final List<List<Cell>> rows = new ArrayList<>();

  /** A table without rows. */
  public Table(Column... columns) {
    this.columns = List.of(columns);
  }

  /** Adds a row: cells, or values without colour. */
  public Table row(@Nullable Object... values) {
    if (values.length != columns.size()) {
      throw new IllegalArgumentException(
          "row: %d values (expected: %d)".formatted(values.length, columns.size()));
    }
    List<Cell> row = new ArrayList<>();
    for (Object value : values) {
      row.add(value instanceof Cell cell ? cell : Cell.of(value));
    }
    rows.add(row);
    return this;
  }

  /** How many rows it has. */
  public int size() {
    return rows.size();
  }

  /** Writes it. */
  public void print(PrintWriter out, Terminal terminal) {
    lines(terminal).forEach(out::println);
  }

  /** Its lines; none if it has no rows. */
  public List<String> lines(Terminal terminal) {
    List<String> lines = new ArrayList<>();
    if (rows.isEmpty()) {
      return lines;
    }
    if (!terminal.screen()) {
      rows.forEach(row -> lines.add(String.join("\t", row.stream().map(Cell::text).toList())));
      return lines;
    }
    int[] widths = widths(terminal.columns());
    List<Cell> heading =
        columns.stream()
            .map(column -> new Cell(column.title().toUpperCase(Locale.ROOT), Paint.BOLD))
            .toList();
    lines.add(line(heading, widths, terminal));
    rows.forEach(row -> lines.add(line(row, widths, terminal)));
    return lines;
  }

  /** The width of each column; negative for one that is left out. */
  private int[] widths(int available) {
    int optional = (int) columns.stream().filter(each -> each.fit() == Fit.OPTIONAL).count();
    int[] widths = natural(optional);
    while (!fits(widths, available) && optional > 0) {
      widths = natural(--optional);
    }
    return widths;
  }

  /** As wide as the values, with so many of the optional columns. */
  private int[] natural(int optional) {
    int[] widths = new int[columns.size()];
    int left = optional;
    for (int i = 0; i < widths.length; i++) {
      int column = i;
      Fit fit = columns.get(i).fit();
      int widest =
          rows.stream().mapToInt(row -> PlainText.width(row.get(column).text())).max().orElse(0);
      boolean allowed = fit != Fit.OPTIONAL || left-- > 0;
      // A column that no row uses tells nothing.
      boolean used = widest > 0 || fit == Fit.WHOLE;
      int title = PlainText.width(columns.get(i).title());
      widths[i] = allowed && used ? Math.max(widest, title) : -1;
    }
    return widths;
  }

  /** Cuts until it fits. */
  private boolean fits(int[] widths, int available) {
    while (total(widths) > available) {
      if (!shrink(widths)) {
        return false;
      }
    }
    return true;
  }

  private static int total(int[] widths) {
    int shown = (int) Arrays.stream(widths).filter(width -> width >= 0).count();
    int text = Arrays.stream(widths).filter(width -> width > 0).sum();
    return text + Math.max(0, shown - 1) * GAP.length();
  }

  private boolean shrink(int[] widths) {
    int widest = -1;
    for (int i = 0; i < widths.length; i++) {
      boolean may = columns.get(i).fit() != Fit.WHOLE && widths[i] > SHORTEST_CUT;
      if (may && (widest < 0 || widths[i] > widths[widest])) {
        widest = i;
      }
    }
    if (widest >= 0) {
      widths[widest]--;
    }
    return widest >= 0;
  }

  private String line(List<Cell> cells, int[] widths, Terminal terminal) {
    StringBuilder line = new StringBuilder();
    int pending = 0; // spaces that only stand before more text
    boolean first = true;
    for (int i = 0; i < widths.length; i++) {
      if (widths[i] < 0) {
        continue;
      }
      Cell cell = cells.get(i);
      String text = PlainText.cut(cell.text(), widths[i]);
      int space = widths[i] - PlainText.width(text);
      pending += first ? 0 : GAP.length();
      first = false;
      boolean right = columns.get(i).number();
      if (!text.isEmpty()) {
        line.append(" ".repeat(pending + (right ? space : 0)));
        line.append(cell.paint().on(text, terminal));
        pending = right ? 0 : space;
      } else {
        pending += space;
      }
    }
    return line.toString();
  }
}
