package dev.carillon.cli.remote;

import dev.carillon.cli.text.PlainText;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Terminal;
import dev.carillon.cli.text.Times;
import java.io.PrintWriter;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a command tells: JSON, or words for people. Times are words on a screen and exact in a pipe.
 *
 * @param out where answers go
 * @param err what is told beside them
 * @param terminal what out is
 * @param json whether answers are JSON
 * @param exact whether times are exact on a screen too
 * @param now what times are seen from
 */
record Report(
    PrintWriter out, PrintWriter err, Terminal terminal, boolean json, boolean exact, Instant now) {

  /** A due time after this one stands for none. */
  private static final Instant NEVER = Instant.parse("9000-01-01T00:00:00Z");

  /** One line of JSON. */
  void line(JsonNode node) {
    out.println(node.toString());
  }

  /** A table; says so if it is empty. */
  void table(Table table, String nothing) {
    if (table.size() == 0) {
      aside(nothing);
    } else {
      table.print(out, terminal);
    }
  }

  /** Something beside the answer. */
  void aside(String words) {
    out.flush();
    err.println(PlainText.line(words));
    err.flush();
  }

  /** Whether people see tables. */
  boolean isScreen() {
    return terminal.screen();
  }

  /** A time for a table; empty for none. */
  String time(JsonNode value) {
    @Nullable Instant time = instant(value);
    if (time == null) {
      return value.asString("");
    }
    if (terminal.screen() && time.isAfter(NEVER)) {
      return ""; // what waits is due at the end of times
    }
    return terminal.screen() && !exact ? Times.words(time, now) : Times.exact(time);
  }

  /** A time in words and exactly; empty for none. */
  String both(JsonNode value) {
    @Nullable Instant time = instant(value);
    if (time == null) {
      return value.asString("");
    }
    return time.isAfter(NEVER) ? "" : Times.both(time, now);
  }

  /** A time of the API; null for none. */
  static @Nullable Instant instant(JsonNode value) {
    try {
      return value.isString() ? Instant.parse(value.asString()) : null;
    } catch (DateTimeException e) {
      return null;
    }
  }

  /** A duration of the API as people write it; empty for none. */
  static String duration(JsonNode value) {
    String text = value.asString("");
    try {
      return text.isEmpty() ? "" : Times.took(Duration.parse(text));
    } catch (DateTimeException e) {
      return text;
    }
  }

  /** Fields, one a line, those without a value left out. */
  Fields fields() {
    return new Fields();
  }

  /** Collects fields. */
  final class Fields {
    private final Map<String, String> values = new LinkedHashMap<>();

    /** A field; nothing for an empty value. */
    Fields put(String name, String value) {
      if (!value.isEmpty()) {
        values.put(name, value);
      }
      return this;
    }

    /** The text or number of a node. */
    Fields put(String name, JsonNode value) {
      return put(name, value.isContainer() ? value.toString() : value.asString(""));
    }

    /** Prints them. */
    void print() {
      int width = values.keySet().stream().mapToInt(String::length).max().orElse(0);
      values.forEach(
          (name, value) ->
              out.println(name + " ".repeat(width - name.length()) + "  " + PlainText.line(value)));
    }
  }
}
