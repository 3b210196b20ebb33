package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Actions on many jobs that go on at the server. */
@Command(
    name = "bulk",
    header = "Actions on many jobs, which go on at the server: list, get, cancel.",
    description =
        "They begin with jobs cancel, pause, resume, reschedule, prioritise and with dead-letters"
            + " replay and discard, where conditions stand in place of ids.",
    subcommands = {BulkCommands.ListBulk.class, BulkCommands.Get.class, BulkCommands.Cancel.class})
public final class BulkCommands extends Group {
  /** The group. */
  public BulkCommands() {}

  /** All that are kept. */
  @Command(
      name = "list",
      header = "Lists the actions of the namespace.",
      description = "In a pipe: id, state, began, ended, error; tabs between.")
  static final class ListBulk extends ServerCommand {
    @Mixin private JobReads.HowMany howMany = new JobReads.HowMany();

    @Override
    ExitCode run(ApiClient server) {
      Pages pages = new Pages(server, Address.of("bulk"), howMany.most());
      List<JsonNode> items = pages.all();
      if (isJson()) {
        items.forEach(report()::line);
      } else {
        Table table =
            new Table(
                Column.whole("id"),
                Column.whole("state"),
                Column.whole("began"),
                Column.whole("ended"),
                Column.optional("error"));
        items.forEach(
            item ->
                table.row(
                    JobTexts.text(item, "id"),
                    JobTexts.state(item),
                    report().time(item.path("scheduledAt")),
                    report().time(item.path("endedAt")),
                    JobTexts.error(item.path("lastError"))));
        report().table(table, "no actions");
      }
      return pages.conclude(report());
    }
  }

  /** One. */
  @Command(name = "get", header = "Shows how far an action is.")
  static final class Get extends ServerCommand {
    @Parameters(paramLabel = "ID", description = "the action's id")
    private String id = "";

    @Override
    ExitCode run(ApiClient server) {
      Bulk.print(server.get(Address.of("bulk", id)).json(), report());
      return ExitCode.DONE;
    }
  }

  /** Stops some. */
  @Command(name = "cancel", header = "Stops actions. What they have done stays done.")
  static final class Cancel extends ServerCommand {
    @Parameters(arity = "1..*", paramLabel = "ID", description = "the actions' ids")
    private List<String> ids = new ArrayList<>();

    @Override
    ExitCode run(ApiClient server) {
      return each(
          Ids.of(ids, surroundings()),
          id -> {
            JsonNode answer = server.post(Address.of("bulk", id, "cancel")).json();
            JobChanges.tell(id, answer, report());
            return ExitCode.DONE;
          });
    }
  }
}
