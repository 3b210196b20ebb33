package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Commands that change jobs. */
final class JobChanges {
  private JobChanges() {}

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** A body with a reason, or without. */
  static ObjectNode reason(String reason) {
    return reason.isEmpty() ? object() : object().put("reason", reason);
  }

  /** Tells how one job took a change. */
  static void tell(String id, JsonNode answer, Report report) {
    if (report.json()) {
      ObjectNode line = object().put("id", id);
      answer.properties().forEach(field -> line.set(field.getKey(), field.getValue()));
      report.line(line);
    } else {
      String outcome = JobTexts.text(answer, "outcome");
      String result = answer.path("result").asString("done");
      String words = outcome.isEmpty() ? result : result + " " + outcome;
      report.out().println(id + "\t" + words.toLowerCase(Locale.ROOT));
    }
  }

  /** The same with each of some jobs, or with all that fit. */
  abstract static class OfJobs extends ServerCommand {
    @Parameters(
        arity = "0..*",
        paramLabel = "ID",
        description =
            "the jobs' ids, - reads them from the standard input; or conditions in their place")
    private List<String> ids = new ArrayList<>();

    @Mixin private JobFilter filter = new JobFilter();

    @Mixin private Bulk bulk = new Bulk();

    /** Which of them, where no ids are given. */
    JobFilter filter() {
      return filter;
    }

    /** The last part of the path. */
    abstract String action();

    /** What is sent. */
    abstract ObjectNode body();

    /** What is sent with an action on many. */
    ObjectNode bulkBody() {
      return body();
    }

    @Override
    ExitCode run(ApiClient server) {
      if (bulk.isMeant(ids, filter)) {
        ObjectNode order = Bulk.order(action(), filter, bulkBody(), report());
        return bulk.run(server, order, report(), surroundings());
      }
      ObjectNode body = body();
      return each(
          Ids.of(ids, surroundings()),
          id -> {
            tell(id, server.post(Address.of("jobs", id, action()), body).json(), report());
            return ExitCode.DONE;
          });
    }
  }

  /** With a reason. */
  static final class Reason {
    @Option(
        names = {"-r", "--reason"},
        paramLabel = "TEXT",
        description = "why, for the history")
    private String reason = "";

    ObjectNode body() {
      return reason(reason);
    }
  }

  /** Cancels. */
  @Command(
      name = "cancel",
      header = "Asks that jobs do not run, or stop.",
      description =
          "Says of each: cancelled, stopping (its handler is asked to end), or how it had ended."
              + " Asking again is safe.")
  static final class Cancel extends OfJobs {
    @Mixin private Reason reason = new Reason();

    @Override
    String action() {
      return "cancel";
    }

    @Override
    ObjectNode body() {
      return reason.body();
    }
  }

  /** Pauses. */
  @Command(name = "pause", header = "Keeps jobs from starting until they are resumed.")
  static final class Pause extends OfJobs {
    @Mixin private Reason reason = new Reason();

    @Override
    String action() {
      return "pause";
    }

    @Override
    ObjectNode body() {
      return reason.body();
    }
  }

  /** Resumes. */
  @Command(name = "resume", header = "Lets paused jobs go on.")
  static final class Resume extends OfJobs {
    @Override
    String action() {
      return "resume";
    }

    @Override
    ObjectNode body() {
      return object();
    }
  }

  /** Another time. */
  @Command(
      name = "reschedule",
      header = "Moves jobs to another time, or gives recurring ones another schedule.",
      description = "A job whose attempt runs is refused (exit code 4).")
  static final class Reschedule extends OfJobs {
    @Option(names = "--at", paramLabel = "TIME", description = "at a time: 2026-03-01T08:00:00Z")
    private String at = "";

    @Option(names = "--in", paramLabel = "DURATION", description = "some time from now: 2h")
    private String in = "";

    @Mixin private RhythmFlags rhythm = new RhythmFlags();

    @Override
    String action() {
      return "reschedule";
    }

    @Override
    ObjectNode body() {
      ObjectNode body = object();
      if (!at.isEmpty()) {
        body.put("at", JobFilter.time("--at", at, report().now()));
      }
      if (!in.isEmpty()) {
        body.put("in", Durations.api(in));
      }
      ObjectNode schedule = rhythm.schedule();
      if (!schedule.isEmpty()) {
        body.set("schedule", schedule);
      }
      if (body.size() != 1) {
        throw new CommandFailure(
            ExitCode.USAGE, "reschedule: no time, or two (expected: --at, --in or a schedule)");
      }
      return body;
    }

    /** Many jobs move to a time. */
    @Override
    ObjectNode bulkBody() {
      ObjectNode body = body();
      if (body.has("schedule")) {
        throw new CommandFailure(
            ExitCode.USAGE, "reschedule: a schedule for many (expected: --at or --in)");
      }
      return body.has("at") ? body : object().put("at", JobFilter.time("--in", in, report().now()));
    }
  }

  /** Another priority. */
  @Command(name = "prioritise", header = "Gives jobs another priority, -100 to 100.")
  static final class Prioritise extends OfJobs {
    @Option(
        names = {"-p", "--priority"},
        required = true,
        paramLabel = "NUMBER",
        description = "higher ones start first; 0 is usual")
    private int priority;

    @Override
    String action() {
      return "prioritise";
    }

    @Override
    ObjectNode body() {
      return object().put("priority", priority);
    }
  }

  /** One occurrence more. */
  @Command(
      name = "trigger",
      header = "Runs one more occurrence of recurring jobs now.",
      description = "Says the id of the occurrence. Asking again adds another.")
  static final class Trigger extends ServerCommand {
    @Parameters(arity = "1..*", paramLabel = "ID", description = "the recurring jobs' ids")
    private List<String> ids = new ArrayList<>();

    @Override
    ExitCode run(ApiClient server) {
      return each(Ids.of(ids, surroundings()), id -> trigger(server, id, report()));
    }

    /** Triggers one and says the id of the occurrence. */
    static ExitCode trigger(ApiClient server, String id, Report report) {
      JsonNode answer = server.post(Address.of("jobs", id, "trigger")).json();
      if (report.json()) {
        report.line(answer);
      } else {
        report.out().println(JobTexts.text(answer, "id"));
      }
      return ExitCode.DONE;
    }
  }

  /** Occurrences of the past. */
  @Command(
      name = "backfill",
      header = "Runs the occurrences that a recurring job had in a range of time.",
      description = "All or none. Says their ids. Asking again adds them again.")
  static final class Backfill extends ServerCommand {
    @Parameters(paramLabel = "ID", description = "the recurring job's id")
    private String id = "";

    @Option(
        names = "--from",
        required = true,
        paramLabel = "TIME",
        description = "from when on: a time, or -24h")
    private String from = "";

    @Option(
        names = "--to",
        required = true,
        paramLabel = "TIME",
        description = "until when: a time, or -1h")
    private String to = "";

    @Override
    ExitCode run(ApiClient server) {
      ObjectNode body =
          object()
              .put("from", JobFilter.time("--from", from, report().now()))
              .put("to", JobFilter.time("--to", to, report().now()));
      JsonNode answer = server.post(Address.of("jobs", id, "backfill"), body).json();
      if (isJson()) {
        report().line(answer);
      } else {
        answer.path("ids").forEach(each -> report().out().println(each.asString("")));
      }
      return ExitCode.DONE;
    }
  }
}
