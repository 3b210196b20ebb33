package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** Programs elsewhere that run jobs. */
@Command(
    name = "workers",
    header = "Programs elsewhere that run the jobs of a server.",
    subcommands = WorkerCommands.ListThem.class,
    footer = {"", "Examples:", "  ./carillon workers list"})
public final class WorkerCommands extends Group {

  /** The command. */
  public WorkerCommands() {}

  /** Those that are connected to the server. */
  @Command(
      name = "list",
      header = "The workers that are connected to the server, and what they run of its jobs.",
      description =
          "room: how many more attempts it takes now; leased: those that outlive the server;"
              + " silent: for how long it has said nothing.")
  static final class ListThem extends ServerCommand {

    @Override
    ExitCode run(ApiClient server) {
      JsonNode answer = server.get(Address.root("workers")).json();
      JsonNode items = answer.path("items");
      if (report().json()) {
        items.forEach(report()::line);
      } else {
        report().table(table(items), "no worker is connected");
      }
      return ExitCode.DONE;
    }

    private static Table table(JsonNode items) {
      Table table =
          new Table(
              Column.whole("worker"),
              Column.number("runs"),
              Column.number("leased"),
              Column.number("room"),
              Column.whole("silent"),
              Column.cut("types"));
      for (JsonNode item : items) {
        int leased = 0;
        for (JsonNode run : item.path("runs")) {
          leased += run.path("leased").asBoolean(false) ? 1 : 0;
        }
        table.row(
            JobTexts.text(item, "worker"),
            Integer.toString(item.path("runs").size()),
            Integer.toString(leased),
            item.path("draining").asBoolean(false) ? "draining" : JobTexts.text(item, "room"),
            JobTexts.text(item, "silent"),
            types(item));
      }
      return table;
    }

    private static String types(JsonNode worker) {
      TreeSet<String> types = new TreeSet<>();
      worker.path("takes").forEach(take -> types.add(take.path("type").asString("*")));
      return String.join(", ", types);
    }
  }
}
