package dev.carillon.cli.remote;

import dev.carillon.cli.text.Paint;
import dev.carillon.cli.text.PlainText;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Cell;
import dev.carillon.cli.text.Table.Column;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Jobs of the API as tables and fields. */
final class JobTexts {
  private JobTexts() {}

  /** Jobs, one a row. In a pipe the columns are more, and always the same. */
  static Table table(List<JsonNode> jobs, Report report) {
    return report.isScreen() ? screen(jobs, report) : pipe(jobs, report);
  }

  private static Table screen(List<JsonNode> jobs, Report report) {
    Table table =
        new Table(
            Column.whole("id"),
            Column.whole("state"),
            Column.whole("when"),
            Column.cut("type"),
            Column.optional("note"),
            Column.optional("name"),
            Column.optional("queue"));
    for (JsonNode job : jobs) {
      String queue = text(job, "queue");
      table.row(
          text(job, "id"),
          state(job),
          when(job, report),
          text(job, "type"),
          note(job),
          text(job, "name"),
          queue.equals("default") ? "" : queue);
    }
    return table;
  }

  private static Table pipe(List<JsonNode> jobs, Report report) {
    Table table =
        new Table(
            Column.whole("id"),
            Column.whole("state"),
            Column.whole("due"),
            Column.whole("ended"),
            Column.whole("type"),
            Column.whole("name"),
            Column.whole("queue"),
            Column.whole("attempt"),
            Column.whole("note"));
    for (JsonNode job : jobs) {
      table.row(
          text(job, "id"),
          text(job, "state"),
          report.time(job.path("dueAt")),
          report.time(job.path("endedAt")),
          text(job, "type"),
          text(job, "name"),
          text(job, "queue"),
          text(job, "attempt"),
          note(job));
    }
    return table;
  }

  static Cell state(JsonNode job) {
    String state = text(job, "state");
    return new Cell(state, Paint.ofState(state));
  }

  /** The time that its state is about: its end, the start of what runs, or when it is due. */
  private static String when(JsonNode job, Report report) {
    boolean runs = text(job, "state").equals("RUNNING") && job.has("startedAt");
    return report.time(job.path(job.has("endedAt") ? "endedAt" : runs ? "startedAt" : "dueAt"));
  }

  /** Why it is as it is, in a few words. */
  private static String note(JsonNode job) {
    List<String> parts = new ArrayList<>();
    add(parts, text(job, "blockReason"));
    add(parts, text(job, "reason"));
    JsonNode recurring = job.path("recurring").path("schedule").path("words");
    add(parts, recurring.asString(""));
    JsonNode error = job.path("lastError");
    if (error.isObject() && !text(job, "state").equals("SUCCEEDED")) {
      add(parts, error(error));
    }
    int attempt = job.path("attempt").asInt(0);
    if (attempt > 1) {
      add(parts, "attempt " + attempt);
    }
    if (job.path("cancelRequested").asBoolean(false)) {
      add(parts, "cancel asked for");
    }
    return String.join("; ", parts);
  }

  private static void add(List<String> parts, String text) {
    if (!text.isEmpty()) {
      parts.add(text);
    }
  }

  /** The simple name of its class and its message. */
  static String error(JsonNode error) {
    if (!error.isObject()) {
      return "";
    }
    String type = text(error, "type");
    return type.substring(type.lastIndexOf('.') + 1) + ": " + text(error, "message");
  }

  /** Everything of one job, field by field. */
  static void print(JsonNode job, Report report) {
    JsonNode recurring = job.path("recurring");
    JsonNode occurrence = job.path("occurrence");
    Report.Fields fields =
        report
            .fields()
            .put("id", text(job, "id"))
            .put("type", version(job))
            .put("name", text(job, "name"))
            .put("key", text(job, "key"))
            .put("namespace", text(job, "namespace"))
            .put("queue", text(job, "queue"))
            .put("priority", text(job, "priority"))
            .put(
                "state", PlainText.line(text(job, "state") + parenthesis(text(job, "blockReason"))))
            .put("reason", text(job, "reason"))
            .put("cancel", job.path("cancelRequested").asBoolean(false) ? "asked for" : "")
            .put("scheduled", report.both(job.path("scheduledAt")))
            .put("due", report.both(job.path("dueAt")))
            .put("attempt", text(job, "attempt"))
            .put("started", report.both(job.path("startedAt")))
            .put("ended", report.both(job.path("endedAt")))
            .put("node", text(job, "node"))
            .put("timeout", Report.duration(job.path("timeout")))
            .put("deadline", report.both(job.path("deadline")))
            .put("recurs", recurring.path("schedule").path("words").asString(""))
            .put("next", report.both(recurring.path("nextTime")))
            .put("occurred", recurring.isObject() ? text(recurring, "count") + " times" : "")
            .put("occurrence", occurrence(occurrence, report));
    job.path("metadata")
        .properties()
        .forEach(entry -> fields.put("meta." + PlainText.line(entry.getKey()), entry.getValue()));
    for (JsonNode dependency : job.path("dependencies")) {
      String met = dependency.path("met").asBoolean(false) ? "met" : "not met yet";
      fields.put(
          "after " + PlainText.line(text(dependency, "job")),
          text(dependency, "condition") + ", " + met);
    }
    fields.put("error", error(job.path("lastError"))).print();
  }

  private static String version(JsonNode job) {
    int version = job.path("typeVersion").asInt(1);
    return text(job, "type") + (version == 1 ? "" : " (version " + version + ")");
  }

  private static String parenthesis(String text) {
    return text.isEmpty() ? "" : " (" + text + ")";
  }

  private static String occurrence(JsonNode occurrence, Report report) {
    return occurrence.isObject()
        ? "%s of %s, %s"
            .formatted(
                text(occurrence, "number"),
                text(occurrence, "schedule"),
                report.both(occurrence.path("time")))
        : "";
  }

  /** A text or a number of a field; empty if it is not there. */
  static String text(JsonNode node, String field) {
    return node.path(field).asString("");
  }
}
