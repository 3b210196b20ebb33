package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.Answer;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.PlainText;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import dev.carillon.cli.text.Times;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Commands that look at jobs. */
final class JobReads {
  private JobReads() {}

  /** A list of jobs. */
  @Command(
      name = "list",
      header = "Lists the jobs that fit every condition.",
      description =
          "In a pipe: id, state, due, ended, type, name, queue, attempt, note; tabs between.")
  static final class ListJobs extends ServerCommand {
    @Mixin private JobFilter filter = new JobFilter();

    @Option(
        names = "--newest",
        description = "only jobs that have ended, the one that ended last first")
    private boolean newest;

    @Mixin private HowMany howMany = new HowMany();

    @Override
    ExitCode run(ApiClient server) {
      Address address = filter.on(Address.of("jobs"), report().now());
      Pages pages = new Pages(server, address.with("newest", newest ? "true" : ""), howMany.most());
      if (isJson()) {
        pages.each(items -> items.forEach(report()::line));
      } else if (report().isScreen()) {
        report().table(JobTexts.table(pages.all(), report()), "no jobs");
      } else {
        pages.each(
            items -> JobTexts.table(items, report()).print(report().out(), report().terminal()));
      }
      return pages.conclude(report());
    }
  }

  /** How many of a list. */
  static final class HowMany {
    @Option(
        names = {"-l", "--limit"},
        paramLabel = "COUNT",
        defaultValue = "50",
        description = "at most so many (default: ${DEFAULT-VALUE})")
    private int limit;

    @Option(names = "--all", description = "all of them")
    private boolean all;

    long most() {
      if (limit < 1) {
        throw CommandFailure.invalid("--limit", Integer.toString(limit), "at least 1");
      }
      return all ? Long.MAX_VALUE : limit;
    }
  }

  /** One job. */
  abstract static class OfJob extends ServerCommand {
    @Parameters(paramLabel = "ID", description = "the job's id, as schedule and list say it")
    private String id = "";

    Address job(String... more) {
      return Address.of("jobs", id).then(more);
    }
  }

  /** A job as it is now. */
  @Command(name = "get", header = "Shows a job as it is now: by its id, its name or its key.")
  static final class Get extends ServerCommand {
    @Parameters(
        arity = "0..1",
        paramLabel = "ID",
        description = "the job's id, as schedule and list say it")
    private String id = "";

    @Option(names = "--name", paramLabel = "NAME", description = "the job that has this name now")
    private String name = "";

    @Option(
        names = "--key",
        paramLabel = "KEY",
        description = "the job without a name that was scheduled under this key")
    private String key = "";

    private Address job() {
      int given = (id.isEmpty() ? 0 : 1) + (name.isEmpty() ? 0 : 1) + (key.isEmpty() ? 0 : 1);
      if (given != 1) {
        throw new CommandFailure(
            ExitCode.USAGE, "get: %d of ID, --name and --key (expected: one)".formatted(given));
      }
      if (!id.isEmpty()) {
        return Address.of("jobs", id);
      }
      return name.isEmpty()
          ? Address.of("jobs", "by-key", key)
          : Address.of("jobs", "by-name", name);
    }

    @Override
    ExitCode run(ApiClient server) {
      JsonNode found = server.get(job()).json();
      if (isJson()) {
        report().line(found);
      } else {
        JobTexts.print(found, report());
      }
      return ExitCode.DONE;
    }
  }

  /** What happened to a job. */
  @Command(
      name = "history",
      header = "Shows what happened to a job, oldest first.",
      description = "In a pipe: at, event, attempt, took, node, by, what, error; tabs between.")
  static final class History extends OfJob {
    @Option(names = "--all", description = "also events older than those of one page")
    private boolean all;

    @Override
    ExitCode run(ApiClient server) {
      List<JsonNode> events = new ArrayList<>();
      JsonNode newest = server.get(job("history")).json();
      newest.path("events").forEach(events::add);
      String cursor = newest.path("next").asString("");
      while (all && !cursor.isEmpty()) {
        JsonNode older = server.get(job("history").with("cursor", cursor)).json();
        List<JsonNode> page = new ArrayList<>();
        older.path("events").forEach(page::add);
        events.addAll(0, page);
        cursor = older.path("next").asString("");
      }
      if (isJson()) {
        events.forEach(report()::line);
      } else {
        report().table(table(events), "no events");
      }
      if (!cursor.isEmpty()) {
        report().aside("older events are left out; --all shows them");
      }
      return ExitCode.DONE;
    }

    private Table table(List<JsonNode> events) {
      Table table =
          new Table(
              Column.whole("at"),
              Column.whole("event"),
              Column.number("attempt"),
              Column.number("took"),
              Column.optional("node"),
              Column.optional("by"),
              Column.cut("what"),
              Column.cut("error"));
      for (JsonNode event : events) {
        int attempt = event.path("attempt").asInt(0);
        table.row(
            exactly(event.path("at")),
            JobTexts.text(event, "kind"),
            attempt == 0 ? "" : Integer.toString(attempt),
            took(event),
            JobTexts.text(event, "node"),
            JobTexts.text(event, "by"),
            JobTexts.text(event, "detail"),
            JobTexts.error(event.path("error")));
      }
      return table;
    }

    private static String exactly(JsonNode value) {
      Instant time = Report.instant(value);
      return time == null ? value.asString("") : Times.exact(time);
    }

    private static String took(JsonNode event) {
      Instant from = Report.instant(event.path("startedAt"));
      Instant to = Report.instant(event.path("at"));
      return from == null || to == null ? "" : Times.took(Duration.between(from, to));
    }
  }

  /** A job's input. */
  @Command(
      name = "input",
      header = "Writes the input of a job as it is stored: JSON, or other bytes.")
  static final class Input extends OfJob {
    @Override
    ExitCode run(ApiClient server) {
      write(server.get(job("input")), this);
      return ExitCode.DONE;
    }
  }

  /** What a workflow published. */
  @Command(name = "published", header = "Writes what a workflow published last, as it is stored.")
  static final class Published extends OfJob {
    @Override
    ExitCode run(ApiClient server) {
      write(server.get(job("published")), this);
      return ExitCode.DONE;
    }
  }

  /** A job's result. */
  @Command(
      name = "result",
      header = "Writes the result of a job as it is stored, once it has succeeded.",
      description = "Exit code 8: it has not ended; 9: it ended in another way.")
  static final class Result extends OfJob {
    private static final Duration STEP = Duration.ofSeconds(30);

    @Option(
        names = {"-w", "--wait"},
        paramLabel = "TIME",
        description = "how long to wait for the end, such as 90s or 5m")
    private String wait = "";

    @Override
    ExitCode run(ApiClient server) {
      Duration duration = wait.isEmpty() ? Duration.ZERO : Durations.of("--wait", wait);
      long deadline = System.nanoTime() + duration.toNanos();
      while (true) {
        Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
        Duration step = left.compareTo(STEP) < 0 ? left : STEP;
        Answer answer =
            server.get(job("result").with("wait", step.isZero() ? "" : step.toMillis() + "ms"));
        if (answer.status() != 202) {
          write(answer, this);
          return ExitCode.DONE;
        }
        if (left.compareTo(STEP) <= 0) {
          if (isJson()) {
            report().line(answer.json());
          }
          report().aside("the job has not ended: " + JobTexts.text(answer.json(), "state"));
          return ExitCode.NOT_YET;
        }
      }
    }
  }

  /** Bytes as they are; JSON with a line end, and nothing for people's eyes that is no text. */
  private static void write(Answer answer, ServerCommand command) {
    Report report = command.report();
    if (answer.status() == 204) {
      report.aside("there is none");
    } else if (answer.type().startsWith("application/json")) {
      String text = answer.text();
      report.out().println(report.isScreen() ? PlainText.lines(text) : text);
    } else if (report.isScreen()) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "%d bytes by the codec %s (expected: a file or a pipe to write them to)"
              .formatted(answer.body().length, answer.codec()));
    } else {
      try {
        OutputStream out = command.surroundings().output();
        out.write(answer.body());
        out.flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** What runs now. */
  @Command(
      name = "running",
      header = "Lists what runs now on every node.",
      description =
          "Exit code 1 where a node gave no answer. In a pipe: id, node, type, namespace, queue,"
              + " attempt, began; tabs between.")
  static final class Running extends ServerCommand {
    @Mixin private RunningJobs running = new RunningJobs();

    @Override
    ExitCode run(ApiClient server) {
      return running.show(server, Address.of("running"), report());
    }
  }

  /** Attempts to come. */
  @Command(
      name = "upcoming",
      header = "Lists the attempts to come, those of recurring jobs too.",
      description =
          "Those of a day from now by default. In a pipe: time, id, type, name, queue; tabs"
              + " between.")
  static final class Upcoming extends ServerCommand {
    @Option(names = "--from", paramLabel = "TIME", description = "from when on, such as 2h")
    private String from = "";

    @Option(names = "--to", paramLabel = "TIME", description = "until when, such as 3h")
    private String to = "";

    @Override
    ExitCode run(ApiClient server) {
      Address address =
          Address.of("upcoming")
              .with("from", JobFilter.time("--from", from, report().now()))
              .with("to", JobFilter.time("--to", to, report().now()));
      JsonNode items = server.get(address).json().path("items");
      if (isJson()) {
        items.forEach(report()::line);
        return ExitCode.DONE;
      }
      Table table =
          new Table(
              Column.whole("time"),
              Column.whole("id"),
              Column.cut("type"),
              Column.optional("name"),
              Column.optional("queue"));
      for (JsonNode item : items) {
        JsonNode job = item.path("job");
        table.row(
            report().time(item.path("time")),
            JobTexts.text(job, "id"),
            JobTexts.text(job, "type"),
            JobTexts.text(job, "name"),
            JobTexts.text(job, "queue"));
      }
      report().table(table, "nothing to come in that time");
      return ExitCode.DONE;
    }
  }
}
