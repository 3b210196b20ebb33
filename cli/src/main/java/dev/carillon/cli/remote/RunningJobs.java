package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** What runs now, as the nodes told. */
final class RunningJobs {
  private static final int MOST = 1_000;

  @Option(
      names = {"-l", "--limit"},
      paramLabel = "COUNT",
      defaultValue = "50",
      description = "at most so many (default: ${DEFAULT-VALUE})")
  private int limit;

  /** Any number. */
  RunningJobs() {}

  ExitCode show(ApiClient server, Address address, Report report) {
    if (limit < 1 || limit > MOST) {
      throw CommandFailure.invalid("--limit", Integer.toString(limit), "1 to " + MOST);
    }
    JsonNode answer = server.get(address.with("limit", limit)).json();
    if (report.json()) {
      answer.path("items").forEach(report::line);
    } else {
      report.table(table(answer.path("items"), report), "nothing runs");
      tellRest(answer, report);
    }
    JsonNode silent = answer.path("silent");
    silent.forEach(
        node -> report.aside("carillon: node " + node.asString("") + " gave no answer in time"));
    return silent.isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
  }

  private static Table table(JsonNode items, Report report) {
    Table table =
        new Table(
            Column.whole("id"),
            Column.cut("node"),
            Column.cut("type"),
            Column.optional("namespace"),
            Column.optional("queue"),
            Column.number("attempt"),
            Column.whole("began"));
    for (JsonNode item : items) {
      table.row(
          JobTexts.text(item, "id"),
          JobTexts.text(item, "node"),
          JobTexts.text(item, "type"),
          JobTexts.text(item, "namespace"),
          JobTexts.text(item, "queue"),
          JobTexts.text(item, "attempt"),
          report.time(item.path("startedAt")));
    }
    return table;
  }

  private static void tellRest(JsonNode answer, Report report) {
    for (JsonNode node : answer.path("nodes")) {
      long rest = node.path("running").asLong(0) - node.path("shown").asLong(0);
      if (rest > 0) {
        report.aside("%d more on node %s".formatted(rest, JobTexts.text(node, "node")));
      }
    }
  }
}
