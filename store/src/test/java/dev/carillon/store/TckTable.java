package dev.carillon.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Prints the cases of the conformance suite and how each store fared, bare and behind faults, from
 * the files that {@link TckReport} wrote: {@code java -cp store/target/test-classes
 * dev.carillon.store.TckTable FILE...}. Ends with 1 where a case failed or no file is there.
 */
public final class TckTable {

  private static final String NOT_RUN = "-";

  private final Map<String, Map<String, String>> cells = new LinkedHashMap<>();
  private final Set<String> columns = new LinkedHashSet<>();
  private final Map<String, Set<String>> reasons = new LinkedHashMap<>();
  private int failures;

  private TckTable() {}

  /** Reads the files named by {@code paths} and prints their table. */
  public static void main(String[] paths) throws IOException {
    TckTable table = new TckTable();
    for (String path : paths) {
      for (String line : Files.readAllLines(Path.of(path))) {
        table.add(line.split("\t", -1));
      }
    }
    PrintStream out = new PrintStream(System.out, false, UTF_8);
    table.print(out);
    out.flush();
    System.exit(table.failures == 0 && !table.cells.isEmpty() ? 0 : 1);
  }

  private void add(String[] fields) {
    String column = fields[0] + " " + fields[1];
    String row = fields[2] + "  " + fields[3];
    String result = fields[4];
    columns.add(column);
    boolean repeated = result.equals(TckReport.PASSED) && !fields[5].equals("1");
    cells
        .computeIfAbsent(row, key -> new LinkedHashMap<>())
        .put(column, repeated ? result + " ×" + fields[5] : result);
    if (!result.equals(TckReport.PASSED)) {
      reasons
          .computeIfAbsent(
              fields[2] + " " + result + ": " + fields[6], key -> new LinkedHashSet<>())
          .add(column);
    }
    failures += result.equals(TckReport.FAILED) ? 1 : 0;
  }

  private void print(PrintStream out) {
    List<String> rows = new ArrayList<>(cells.keySet());
    rows.sort(Comparator.comparingInt(TckTable::subject).thenComparing(row -> row.substring(0, 3)));
    int first = width(rows, 4);
    out.print(pad("case", first));
    columns.forEach(column -> out.print("  " + pad(column, columnWidth(column))));
    out.println();
    for (String row : rows) {
      out.print(pad(row, first));
      for (String column : columns) {
        String cell = cells.get(row).getOrDefault(column, NOT_RUN);
        out.print("  " + pad(cell, columnWidth(column)));
      }
      out.println();
    }
    out.println();
    reasons.forEach((reason, where) -> out.println(reason + " (" + String.join(", ", where) + ")"));
    out.println();
    out.println(rows.size() + " cases, " + failures + " failures: " + verdict());
  }

  private String verdict() {
    return failures == 0 && !cells.isEmpty() ? "PASS" : "FAIL";
  }

  /** Journals first, then records, then capabilities. */
  private static int subject(String row) {
    return "TRC".indexOf(row.charAt(0));
  }

  private int columnWidth(String column) {
    return width(
        cells.values().stream().map(row -> row.getOrDefault(column, NOT_RUN)).toList(),
        column.length());
  }

  private static int width(List<String> texts, int least) {
    return texts.stream().mapToInt(String::length).reduce(least, Math::max);
  }

  private static String pad(String text, int width) {
    return text + " ".repeat(width - text.length());
  }
}
