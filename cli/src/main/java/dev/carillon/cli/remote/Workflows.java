package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Paint;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Cell;
import dev.carillon.cli.text.Table.Column;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/** Jobs that remember. */
@Command(
    name = "workflows",
    header = "Workflows: those that wait, their steps, signals, terminate.",
    description = "A workflow is a job: every command of jobs is for it too.",
    subcommands = {
      Workflows.Waiting.class,
      Workflows.Steps.class,
      Workflows.Signal.class,
      Workflows.Terminate.class
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon workflows steps ID",
      "  ./carillon workflows signal ID approved --payload '{\"by\": \"ann\"}' --key 4711"
    })
public final class Workflows extends Group {
  /** The group. */
  public Workflows() {}

  /** Those that wait. */
  @Command(
      name = "list",
      header = "Lists the workflows that wait: for a time, a signal or a child.",
      description =
          "Those that run or are due are among jobs list --type TYPE. In a pipe the columns are"
              + " those of jobs list.")
  static final class Waiting extends ServerCommand {
    @Option(
        names = {"-t", "--type"},
        paramLabel = "TYPE",
        description = "of this type")
    private String type = "";

    @Mixin private JobReads.HowMany howMany = new JobReads.HowMany();

    @Override
    ExitCode run(ApiClient server) {
      Address address = Address.of("jobs").with("state", "WAITING").with("type", type);
      Pages pages = new Pages(server, address, howMany.most());
      List<JsonNode> items = pages.all();
      if (isJson()) {
        items.forEach(report()::line);
      } else {
        report().table(JobTexts.table(items, report()), "no workflow waits");
      }
      return pages.conclude(report());
    }
  }

  /** The steps of one. */
  @Command(
      name = "steps",
      header = "Shows the steps of a workflow and what it waits for.",
      description = "In a pipe: name, state, tries, at, next, error; tabs between.")
  static final class Steps extends ServerCommand {
    @Parameters(paramLabel = "ID", description = "the workflow's id")
    private String id = "";

    @Override
    ExitCode run(ApiClient server) {
      JsonNode workflow = server.get(Address.of("jobs", id, "workflow")).json();
      if (isJson()) {
        report().line(workflow);
        return ExitCode.DONE;
      }
      Table table =
          new Table(
              Column.cut("name"),
              Column.whole("state"),
              Column.number("tries"),
              Column.whole("at"),
              Column.whole("next"),
              Column.cut("error"));
      for (JsonNode step : workflow.path("steps")) {
        table.row(
            JobTexts.text(step, "name"),
            new Cell(JobTexts.text(step, "state"), paint(JobTexts.text(step, "state"))),
            JobTexts.text(step, "tries"),
            report().time(step.path("at")),
            report().time(step.path("nextAt")),
            JobTexts.error(step.path("error")));
      }
      report().table(table, "no steps");
      long left = workflow.path("stepsLeftOut").asLong(0);
      if (left > 0) {
        report().aside(left + " older steps are left out");
      }
      report().aside("it is " + JobTexts.text(workflow, "state") + waits(workflow));
      return ExitCode.DONE;
    }

    private static Paint paint(String state) {
      return switch (state) {
        case "DONE" -> Paint.GREEN;
        case "FAILED" -> Paint.RED;
        case "RETRYING" -> Paint.YELLOW;
        default -> Paint.CYAN;
      };
    }

    private String waits(JsonNode workflow) {
      JsonNode waits = workflow.path("waitsFor");
      List<String> parts = new ArrayList<>();
      if (waits.has("until")) {
        parts.add("until " + report().both(waits.path("until")));
      }
      waits.path("signals").forEach(signal -> parts.add("for the signal " + signal.asString("")));
      List<String> children = new ArrayList<>();
      waits.path("children").forEach(child -> children.add(child.asString("")));
      if (!children.isEmpty()) {
        String which = waits.path("allChildren").asBoolean(false) ? "all of " : "one of ";
        parts.add("for the end of " + which + String.join(", ", children));
      }
      return parts.isEmpty() ? "" : " and waits " + String.join(", or ", parts);
    }
  }

  /** Sends something. */
  @Command(
      name = "signal",
      header = "Sends a signal to a workflow, also before it waits for it.",
      description = "Durable when answered. Under the same --key it is taken once.")
  static final class Signal extends ServerCommand {
    @Parameters(index = "0", paramLabel = "ID", description = "the workflow's id")
    private String id = "";

    @Parameters(index = "1", paramLabel = "SIGNAL", description = "the signal's type")
    private String type = "";

    @Option(
        names = {"-i", "--payload"},
        paramLabel = "JSON",
        description = "what it carries, JSON; @FILE reads a file, - the standard input")
    private String payload = "";

    @Option(
        names = {"-k", "--key"},
        paramLabel = "KEY",
        description = "under the same key it is taken once")
    private String key = "";

    @Override
    ExitCode run(ApiClient server) {
      if (!StandardCharsets.US_ASCII.newEncoder().canEncode(key)) { // a header would lose it
        throw CommandFailure.invalid("--key", key, "ASCII");
      }
      ObjectNode body = JobChanges.object().put("type", type);
      if (!payload.isEmpty()) {
        body.putRawValue(
            "payload", new RawValue(JobFlags.json("--payload", payload, surroundings())));
      }
      Map<String, String> headers = key.isEmpty() ? Map.of() : Map.of("Idempotency-Key", key);
      Address address = Address.of("jobs", id, "signal");
      JobChanges.tell(id, server.send("POST", address, body.toString(), headers).json(), report());
      return ExitCode.DONE;
    }
  }

  /** Ends some. */
  @Command(
      name = "terminate",
      header = "Ends workflows and their children without compensations.",
      description = "jobs cancel lets them compensate. Asking again is safe.")
  static final class Terminate extends JobChanges.OfJobs {
    @Mixin private JobChanges.Reason reason = new JobChanges.Reason();

    @Override
    String action() {
      return "terminate";
    }

    @Override
    ObjectNode body() {
      return reason.body();
    }
  }
}
