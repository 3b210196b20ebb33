package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.Answer;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Schedules jobs. */
@Command(
    name = "schedule",
    header = "Schedules a job, or many from lines of JSON.",
    description =
        "Says the id of the job, once it is durable. With --from, each line is a job as the API"
            + " takes it; the ids come in the order of the lines. A job with a name or a key is"
            + " never there twice, however often the command is repeated.",
    footer = {
      "",
      "Examples:",
      "  ./carillon schedule mail --input '{\"to\": \"ann@example.com\"}' --in 2h",
      "  ./carillon schedule report --cron '30 2 * * *' --zone Europe/Berlin",
      "  ./carillon schedule --from jobs.jsonl"
    })
public final class ScheduleJob extends ServerCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "TYPE",
      description = "what handler it is for; not with --from")
  private String type = "";

  @Option(
      names = "--from",
      paramLabel = "FILE",
      description = "jobs as lines of JSON; - reads the standard input")
  private String from = "";

  @Option(
      names = "--batch",
      paramLabel = "COUNT",
      defaultValue = "1000",
      description = "so many lines at once, all or none of them (default: ${DEFAULT-VALUE})")
  private int batch;

  @Option(
      names = "--at",
      paramLabel = "TIME",
      description = "when it is due: 2026-03-01T08:00:00Z (default: now)")
  private String at = "";

  @Option(names = "--in", paramLabel = "DURATION", description = "due some time from now: 2h")
  private String in = "";

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "unique among the live jobs of the namespace")
  private String name = "";

  @Option(
      names = "--if-exists",
      paramLabel = "RULE",
      description = "where the name is taken: fail, keep, replace, update (default: fail)")
  private String ifExists = "";

  @Option(
      names = {"-k", "--key"},
      paramLabel = "KEY",
      description = "its idempotency key: the same key gives the same job")
  private String key = "";

  @Mixin private JobFlags job = new JobFlags();

  @Mixin private RhythmFlags rhythm = new RhythmFlags();

  @Option(names = "--dry-run", description = "say what would be sent, and send nothing")
  private boolean dryRun;

  /** The command. */
  public ScheduleJob() {}

  @Override
  ExitCode run(ApiClient server) {
    if (from.isEmpty() == type.isEmpty()) {
      throw new CommandFailure(
          ExitCode.USAGE, "schedule: no TYPE and no --from, or both (expected: one of them)");
    }
    if (!from.isEmpty()) {
      return new JobLines(surroundings(), report(), batch, dryRun).schedule(from, server);
    }
    ObjectNode request = request();
    if (dryRun) {
      report().line(request);
      return ExitCode.DONE;
    }
    Answer answer = server.send("POST", Address.of("jobs"), request.toString(), Map.of());
    tell(answer.json(), report());
    return ExitCode.DONE;
  }

  private ObjectNode request() {
    ObjectNode request = job.request(type, report(), surroundings());
    RhythmFlags.put(request, "at", JobFilter.time("--at", at, report().now()));
    RhythmFlags.put(request, "in", Durations.api(in));
    RhythmFlags.put(request, "name", name);
    RhythmFlags.put(request, "ifExists", RhythmFlags.rule(ifExists));
    RhythmFlags.put(request, "key", key);
    ObjectNode schedule = rhythm.schedule();
    if (!schedule.isEmpty()) {
      request.set("schedule", schedule);
    }
    return request;
  }

  /** The id of a job that is scheduled, or was. */
  static void tell(JsonNode scheduled, Report report) {
    if (report.json()) {
      report.line(scheduled);
    } else {
      report.out().println(JobTexts.text(scheduled, "id"));
      if (!scheduled.path("created").asBoolean(true)) {
        report.aside("a job of that name or key was there, and is kept");
      }
    }
  }
}
