package dev.carillon.bench;

import java.io.PrintStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/**
 * Where figures go: a table for people or one JSON object a line, and whether all bounds held.
 * Progress goes to standard error. Not thread-safe.
 */
final class Report {
  private static final JsonMapper JSON = new JsonMapper();

  private final boolean json;
  private final PrintStream out;
  private final PrintStream err;
  private final String store;
  private final Map<String, Object> settings = new LinkedHashMap<>();
  private final long startNanos = System.nanoTime();
  private int failed;
  private int held;

  Report(boolean json, String store, PrintStream out, PrintStream err) {
    this.json = json;
    this.store = store;
    this.out = out;
    this.err = err;
    settings.putAll(Machine.settings());
  }

  /** Says with what the figures after it are measured. */
  void setting(String name, Object value) {
    Object before = settings.put(name, value);
    if (!json && !value.equals(before)) {
      out.println("  " + name + ": " + value);
    }
  }

  /** Prints what every figure is measured with. */
  void title(String title) {
    if (!json) {
      out.println(title + " (store " + store + ")");
      settings.forEach((name, value) -> out.println("  " + name + ": " + value));
    }
  }

  void figure(Figure figure) {
    if (figure.bound() != null) {
      held++;
      failed += figure.holds() ? 0 : 1;
    }
    if (!json) {
      out.println(figure.line());
      return;
    }
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("scenario", figure.scenario());
    line.put("system", figure.system());
    line.put("store", store);
    line.put("metric", figure.metric());
    line.put("value", figure.value());
    line.put("unit", figure.unit());
    if (figure.bound() != null) {
      line.put("bound", figure.bound().text());
      line.put("verdict", figure.verdict());
    }
    line.put("settings", settings);
    out.println(JSON.writeValueAsString(line));
  }

  /** Something that must be so: 1 where it is, 0 where it is not. */
  void fact(String scenario, String what, boolean so) {
    figure(Figure.of(scenario, what, so ? 1 : 0, "1=yes").held(Bound.atLeast(1)));
  }

  void progress(String what) {
    Duration since = Duration.ofNanos(System.nanoTime() - startNanos);
    err.printf("[%4d s] %s%n", since.toSeconds(), what);
  }

  /** Prints the verdict over all and returns the exit code. */
  int verdict() {
    String verdict = failed == 0 ? "PASS" : "FAIL";
    if (!json) {
      out.println(verdict + ": " + (held - failed) + " of " + held + " bounds hold");
    }
    return failed == 0 ? 0 : 1;
  }
}
