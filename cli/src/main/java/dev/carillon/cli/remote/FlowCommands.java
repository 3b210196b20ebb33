package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What commands do with pause, limit and rate of a queue or of a namespace. */
final class FlowCommands {
  private static final Pattern RATE = Pattern.compile("(\\d{1,9})(?:/(\\S+))?");
  private static final String NONE = "none";

  private FlowCommands() {}

  private static ExitCode show(ApiClient server, Address flow, Report report) {
    JsonNode found = server.get(flow).json();
    if (report.json()) {
      report.line(found);
      return ExitCode.DONE;
    }
    JsonNode rate = found.path("rate");
    report
        .fields()
        .put("paused", found.path("paused").asBoolean(false) ? "yes" : "no")
        .put("reason", found.path("reason"))
        .put("limit", found.has("limit") ? JobTexts.text(found, "limit") : "none")
        .put("rate", rate.isObject() ? words(rate) : "none")
        .put("paused by", found.path("pausedBy"))
        .put("paused at", report.both(found.path("pausedAt")))
        .put("changed by", found.path("changedBy"))
        .put("changed at", report.both(found.path("changedAt")))
        .print();
    return ExitCode.DONE;
  }

  /** The queues with what is set and what waits. */
  static ExitCode list(ApiClient server, Report report) {
    JsonNode found = server.get(Address.root("queues")).json();
    if (report.json()) {
      found.path("items").forEach(report::line);
    } else {
      Table table =
          new Table(
              Column.cut("queue"),
              Column.whole("paused"),
              Column.number("running"),
              Column.number("waiting"),
              Column.whole("oldest due"),
              Column.number("limit"),
              Column.whole("rate"),
              Column.optional("paused by"));
      for (JsonNode queue : found.path("items")) {
        JsonNode rate = queue.path("rate");
        table.row(
            JobTexts.text(queue, "queue"),
            queue.path("paused").asBoolean(false) ? "paused" : "",
            JobTexts.text(queue, "running"),
            JobTexts.text(queue, "waiting"),
            report.time(queue.path("oldestDue")),
            JobTexts.text(queue, "limit"),
            rate.isObject() ? words(rate) : "",
            JobTexts.text(queue, "pausedBy"));
      }
      report.table(table, "no queues");
    }
    found
        .path("silent")
        .forEach(node -> report.aside("carillon: no answer of node " + node.asString("")));
    return found.path("silent").isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
  }

  private static String words(JsonNode rate) {
    String burst = JobTexts.text(rate, "burst");
    return JobTexts.text(rate, "permits")
        + " in "
        + Report.duration(rate.path("period"))
        + (burst.isEmpty() ? "" : ", at once " + burst);
  }

  /** A limit, or none. */
  static ExitCode limit(ApiClient server, Address flow, String limit, Report report) {
    if (limit.equals(NONE)) {
      return tell(server.send("DELETE", flow.then("limit"), null, Map.of()).json(), report);
    }
    if (!limit.matches("[1-9]\\d{0,8}")) {
      throw CommandFailure.invalid("limit", limit, "a number from 1 on, or none");
    }
    String body = JobChanges.object().put("limit", Integer.parseInt(limit)).toString();
    return tell(server.send("PUT", flow.then("limit"), body, Map.of()).json(), report);
  }

  /** A rate, or none. */
  static ExitCode rate(
      ApiClient server, Address flow, String rate, @Nullable Integer burst, Report report) {
    if (rate.equals(NONE)) {
      return tell(server.send("DELETE", flow.then("rate"), null, Map.of()).json(), report);
    }
    Matcher parts = RATE.matcher(rate);
    if (!parts.matches()) {
      throw CommandFailure.invalid("rate", rate, "such as 100/1s or 5/1h, or none");
    }
    ObjectNode body = JobChanges.object().put("permits", Integer.parseInt(parts.group(1)));
    RhythmFlags.put(body, "period", parts.group(2) == null ? "" : period(parts.group(2)));
    if (burst != null) {
      body.put("burst", burst);
    }
    return tell(server.send("PUT", flow.then("rate"), body.toString(), Map.of()).json(), report);
  }

  /** {@code s} is {@code 1s}. */
  private static String period(String text) {
    return Durations.api(Character.isDigit(text.charAt(0)) ? text : "1" + text);
  }

  private static ExitCode tell(JsonNode answer, Report report) {
    if (report.json()) {
      report.line(answer);
    } else {
      report.out().println(answer.path("result").asString("done").toLowerCase(Locale.ROOT));
    }
    return ExitCode.DONE;
  }

  /** A command about one of them. */
  abstract static class OfFlow extends ServerCommand {
    /** Where its pause, limit and rate are. */
    abstract Address flow();
  }

  /** What is in effect. */
  abstract static class Get extends OfFlow {
    @Override
    ExitCode run(ApiClient server) {
      return show(server, flow(), report());
    }
  }

  /** Pauses. */
  abstract static class Pause extends OfFlow {
    @Mixin private JobChanges.Reason reason = new JobChanges.Reason();

    @Override
    ExitCode run(ApiClient server) {
      return tell(server.post(flow().then("pause"), reason.body()).json(), report());
    }
  }

  /** Resumes. */
  abstract static class Resume extends OfFlow {
    @Override
    ExitCode run(ApiClient server) {
      return tell(server.post(flow().then("resume"), JobChanges.object()).json(), report());
    }
  }

  /** How many may start at once after a lull. */
  static final class Burst {
    @Option(
        names = "--burst",
        paramLabel = "COUNT",
        description = "so many at once after a lull (default: 1)")
    @Nullable Integer burst;

    Burst() {}
  }
}
