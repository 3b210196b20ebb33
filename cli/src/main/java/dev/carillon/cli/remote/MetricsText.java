package dev.carillon.cli.remote;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A node's meters as Prometheus reads them. Immutable.
 *
 * @param values by name, in the order of the text
 */
record MetricsText(Map<String, List<Value>> values) {
  private static final int MOST_LINES = 200_000;
  private static final Pattern LINE =
      Pattern.compile("([A-Za-z_:][\\w:]*)(?:\\{(.*)\\})? (\\S+)(?: \\d+)?");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  /**
   * A value with its labels.
   *
   * @param labels by name
   * @param number not a number where the node does not know it
   */
  record Value(Map<String, String> labels, double number) {
    /** What it is about: all labels but some. */
    Map<String, String> without(Set<String> names) {
      return labels.entrySet().stream()
          .filter(label -> !names.contains(label.getKey()))
          .collect(
              Collectors.toMap(
                  Map.Entry::getKey, Map.Entry::getValue, (a, b) -> a, LinkedHashMap::new));
    }
  }

  static MetricsText parse(String text) {
    Map<String, List<Value>> values = new LinkedHashMap<>();
    text.lines()
        .limit(MOST_LINES)
        .filter(line -> !line.startsWith("#"))
        .map(LINE::matcher)
        .filter(Matcher::matches)
        .forEach(line -> add(values, line));
    return new MetricsText(values);
  }

  private static void add(Map<String, List<Value>> values, Matcher line) {
    Map<String, String> labels = new LinkedHashMap<>();
    if (line.group(2) != null) {
      Matcher label = LABEL.matcher(line.group(2));
      while (label.find()) {
        labels.put(label.group(1), unescaped(label.group(2)));
      }
    }
    values
        .computeIfAbsent(line.group(1), name -> new ArrayList<>())
        .add(new Value(labels, number(line.group(3))));
  }

  private static String unescaped(String text) {
    return text.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text.replace("Inf", "Infinity"));
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /** The values of a name. */
  List<Value> of(String name) {
    return values.getOrDefault(name, List.of());
  }

  /** The sum over all labels; values that are not known do not count. */
  double sum(String name) {
    return of(name).stream().mapToDouble(Value::number).filter(n -> !Double.isNaN(n)).sum();
  }

  /** The sum of the values that have a label. */
  double sum(String name, String label, String value) {
    return of(name).stream()
        .filter(each -> value.equals(each.labels().get(label)))
        .mapToDouble(Value::number)
        .filter(n -> !Double.isNaN(n))
        .sum();
  }
}
