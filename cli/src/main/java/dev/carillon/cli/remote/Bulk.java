package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.client.Surroundings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The same with all jobs that fit: counted first, confirmed, and done by a job of the server's,
 * which goes on if this command ends.
 */
final class Bulk {
  private static final Duration LOOK = Duration.ofMillis(300);

  @Option(names = "--all", description = "all jobs of the namespace that fit the other conditions")
  private boolean all;

  @Option(names = "--dry-run", description = "count the jobs that fit and show ten; change nothing")
  private boolean dryRun;

  @Option(
      names = {"-y", "--yes"},
      description = "do not ask; needed where nobody can answer")
  private boolean yes;

  @Option(
      names = "--detach",
      description = "do not wait for the end; bulk get ID shows how far it is")
  private boolean detached;

  /** Nothing asked for. */
  Bulk() {}

  /** Whether jobs are meant by conditions and not by ids. */
  boolean isMeant(List<String> ids, JobFilter filter) {
    boolean conditions = all || !filter.isEmpty();
    if (conditions && !ids.isEmpty()) {
      throw new CommandFailure(
          ExitCode.USAGE, "ids and conditions: both (expected: ids, or conditions such as --type)");
    }
    if (!conditions && ids.isEmpty()) {
      throw new CommandFailure(
          ExitCode.USAGE,
          "no ids and no conditions (expected: ids, or --type, --queue…, or --all)");
    }
    if (dryRun && !conditions) {
      throw new CommandFailure(
          ExitCode.USAGE, "--dry-run: with ids (expected: with conditions such as --type)");
    }
    return conditions;
  }

  /** The request: the action, the conditions, and what the action needs besides. */
  static ObjectNode order(String action, JobFilter filter, JsonNode more, Report report) {
    ObjectNode order = JobChanges.object().put("action", action.toUpperCase(Locale.ROOT));
    ObjectNode query = order.putObject("query");
    for (Map.Entry<String, String> each : filter.parameters(report.now())) {
      String name = each.getKey();
      if (name.equals("state")) {
        query.withArray("state").add(each.getValue());
      } else if (name.startsWith("meta.")) {
        query.withObject("meta").put(name.substring("meta.".length()), each.getValue());
      } else {
        query.put(name, each.getValue());
      }
    }
    more.properties().forEach(field -> order.set(field.getKey(), field.getValue()));
    return order;
  }

  /** Counts, asks, orders and waits. */
  ExitCode run(ApiClient server, ObjectNode order, Report report, Surroundings surroundings) {
    String action = order.path("action").asString("").toLowerCase(Locale.ROOT);
    if (dryRun || !yes) {
      JsonNode count = server.post(Address.of("bulk"), order.deepCopy().put("dryRun", true)).json();
      if (dryRun) {
        return show(count, report);
      }
      if (!report.isScreen()) {
        throw new CommandFailure(
            ExitCode.USAGE,
            "%s %s: nobody is asked (expected: --yes to do it, --dry-run to look)"
                .formatted(action, jobs(count)));
      }
      show(count, report);
      if (!isConfirmed(
          action + " " + jobs(count) + " on " + server.server(), surroundings, report)) {
        report.aside("nothing was done");
        return ExitCode.USAGE;
      }
    }
    JsonNode started = server.post(Address.of("bulk"), order).json();
    String id = JobTexts.text(started, "id");
    if (detached) {
      if (report.json()) {
        report.line(started);
      } else {
        report.out().println(id);
      }
      return ExitCode.DONE;
    }
    report.aside("it goes on if this command ends: ./carillon bulk get " + id);
    return follow(server, id, report);
  }

  private static ExitCode show(JsonNode count, Report report) {
    if (report.json()) {
      report.line(count);
    } else {
      report.out().println(jobs(count));
      List<JsonNode> first = count.path("first").valueStream().toList();
      JobTexts.table(first, report).print(report.out(), report.terminal());
    }
    report.out().flush();
    return ExitCode.DONE;
  }

  private static String jobs(JsonNode count) {
    long number = count.path("count").asLong(0);
    boolean complete = count.path("complete").asBoolean(true);
    return (complete ? "" : "at least ") + number + (number == 1 ? " job" : " jobs");
  }

  private static boolean isConfirmed(String what, Surroundings surroundings, Report report) {
    report.err().print(what + "? [y/N] ");
    report.err().flush();
    try {
      String said =
          new BufferedReader(new InputStreamReader(surroundings.input(), StandardCharsets.UTF_8))
              .readLine();
      return said != null && said.strip().toLowerCase(Locale.ROOT).matches("y|yes");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ExitCode follow(ApiClient server, String id, Report report) {
    JsonNode status = server.get(Address.of("bulk", id)).json();
    long shown = -1;
    while (!status.has("endedAt")) {
      long done = status.path("done").asLong(0);
      if (report.isScreen() && done != shown) {
        report.err().print("\r" + done + " so far");
        report.err().flush();
        shown = done;
      }
      pause();
      status = server.get(Address.of("bulk", id)).json();
    }
    if (shown >= 0) {
      report.err().print("\r                    \r");
    }
    print(status, report);
    boolean whole =
        JobTexts.text(status, "state").equals("SUCCEEDED")
            && status.path("complete").asBoolean(false);
    return whole && status.path("unreadable").isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
  }

  private static void pause() {
    try {
      Thread.sleep(LOOK);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(ExitCode.NOT_YET, "interrupted; the action goes on", e);
    }
  }

  /** How far an action is. */
  static void print(JsonNode status, Report report) {
    if (report.json()) {
      report.line(status);
      return;
    }
    report
        .fields()
        .put("id", status.path("id"))
        .put("action", status.path("action"))
        .put("state", status.path("state"))
        .put("changed", status.path("done"))
        .put("unchanged", status.path("unchanged"))
        .put("looked at all", status.path("complete").asBoolean(false) ? "yes" : "no")
        .put("stopped", status.path("stopped").asBoolean(false) ? "yes" : "")
        .put("by", status.path("by"))
        .put("began", report.both(status.path("scheduledAt")))
        .put("ended", report.both(status.path("endedAt")))
        .put("error", JobTexts.error(status.path("lastError")))
        .print();
    status
        .path("unreadable")
        .forEach(part -> report.aside("carillon: damaged and left out: " + part.asString("")));
  }
}
