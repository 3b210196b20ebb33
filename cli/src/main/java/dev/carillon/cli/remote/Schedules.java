package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.Answer;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Recurring jobs by their names. */
@Command(
    name = "schedules",
    header = "Recurring jobs by name: put, list, preview, pause, delete.",
    subcommands = {
      Schedules.Put.class,
      Schedules.ListSchedules.class,
      Schedules.Get.class,
      Schedules.Preview.class,
      Schedules.Pause.class,
      Schedules.Resume.class,
      Schedules.Trigger.class,
      Schedules.Delete.class
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon schedules preview --cron '30 2 * * *' --zone Europe/Berlin",
      "  ./carillon schedules put nightly report --cron '30 2 * * *' --zone Europe/Berlin",
      "  ./carillon schedules delete --prefix test --dry-run"
    })
public final class Schedules extends Group {
  /** The group. */
  public Schedules() {}

  private static Address of(String name, String... more) {
    return Address.of("schedules", name).then(more);
  }

  /** Declares one. */
  @Command(
      name = "put",
      header = "Creates a schedule, or lets that of the name take over what differs.",
      description =
          "Putting the same again changes nothing. An existing one keeps its id, count and pause."
              + " Says the id.")
  static final class Put extends ServerCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "the name")
    private String name = "";

    @Parameters(index = "1", paramLabel = "TYPE", description = "what handler it is for")
    private String type = "";

    @Mixin private RhythmFlags rhythm = new RhythmFlags();

    @Mixin private JobFlags job = new JobFlags();

    @Option(names = "--create", description = "only create it; exit code 4 if it is there")
    private boolean create;

    @Option(
        names = "--if-match",
        paramLabel = "ETAG",
        description = "only if it still is as schedules get said")
    private String ifMatch = "";

    @Option(names = "--dry-run", description = "say what would be sent, and its next times")
    private boolean dryRun;

    @Override
    ExitCode run(ApiClient server) {
      ObjectNode request = job.request(type, report(), surroundings());
      ObjectNode schedule = rhythm.schedule();
      request.set("schedule", schedule);
      if (dryRun) {
        report().line(request);
        ObjectNode asked = JobChanges.object();
        asked.set("schedule", schedule);
        Times.print(server.post(Address.of("preview"), asked).json(), report());
        return ExitCode.DONE;
      }
      Map<String, String> headers = new LinkedHashMap<>();
      if (create) {
        headers.put("If-None-Match", "*");
      }
      if (!ifMatch.isEmpty()) {
        headers.put("If-Match", ifMatch);
      }
      Answer answer = server.send("PUT", of(name), request.toString(), headers);
      if (isJson()) {
        report().line(answer.json());
      } else {
        report().out().println(JobTexts.text(answer.json(), "id"));
        report().aside(answer.status() == 201 ? "created" : "is as asked for");
      }
      return ExitCode.DONE;
    }
  }

  /** All of them. */
  @Command(
      name = "list",
      header = "Lists the schedules.",
      description = "In a pipe: name, state, next, count, type, schedule, id; tabs between.")
  static final class ListSchedules extends ServerCommand {
    @Option(names = "--prefix", paramLabel = "TEXT", description = "whose name begins like this")
    private String prefix = "";

    @Mixin private JobReads.HowMany howMany = new JobReads.HowMany();

    @Override
    ExitCode run(ApiClient server) {
      Pages pages =
          new Pages(server, Address.of("schedules").with("prefix", prefix), howMany.most());
      List<JsonNode> items = pages.all();
      if (isJson()) {
        items.forEach(report()::line);
      } else {
        report().table(table(items, report()), "no schedules");
      }
      return pages.conclude(report());
    }

    private static Table table(List<JsonNode> items, Report report) {
      Table table =
          new Table(
              Column.whole("name"),
              Column.whole("state"),
              Column.whole("next"),
              Column.number("count"),
              Column.cut("type"),
              Column.cut("schedule"),
              Column.optional("id"));
      for (JsonNode item : items) {
        JsonNode recurring = item.path("recurring");
        table.row(
            JobTexts.text(item, "name"),
            JobTexts.state(item),
            report.time(recurring.path("nextTime")),
            JobTexts.text(recurring, "count"),
            JobTexts.text(item, "type"),
            recurring.path("schedule").path("words").asString(""),
            JobTexts.text(item, "id"));
      }
      return table;
    }
  }

  /** One by its name. */
  abstract static class OfName extends ServerCommand {
    @Parameters(paramLabel = "NAME", description = "the schedule's name")
    private String name = "";

    String name() {
      return name;
    }
  }

  /** One. */
  @Command(name = "get", header = "Shows a schedule and its ETag, for put --if-match.")
  static final class Get extends OfName {
    @Override
    ExitCode run(ApiClient server) {
      Answer answer = server.get(of(name()));
      if (isJson()) {
        ObjectNode line = (ObjectNode) answer.json();
        report().line(line.put("etag", answer.etag()));
      } else {
        JobTexts.print(answer.json(), report());
        report().fields().put("etag", answer.etag()).print();
      }
      return ExitCode.DONE;
    }
  }

  /** Times to come. */
  @Command(
      name = "preview",
      header = "Shows the times to come of a schedule, there or not, with clock changes.",
      description =
          "A note stands where a clock change moves or drops a time. In a pipe: time, local time,"
              + " zone, notes; tabs between.")
  static final class Preview extends ServerCommand {
    @Parameters(
        arity = "0..1",
        paramLabel = "NAME",
        description = "the schedule's name; without it --cron, --every or --after-each")
    private String name = "";

    @Mixin private RhythmFlags rhythm = new RhythmFlags();

    @Option(
        names = {"-l", "--limit"},
        paramLabel = "COUNT",
        defaultValue = "10",
        description = "so many times (default: ${DEFAULT-VALUE})")
    private int count;

    @Option(names = "--from", paramLabel = "TIME", description = "from when on (default: now)")
    private String from = "";

    @Option(
        names = "--show-zone",
        paramLabel = "ZONE",
        description = "the zone of local times (default: the schedule's)")
    private String shownZone = "";

    @Override
    ExitCode run(ApiClient server) {
      ObjectNode schedule = rhythm.schedule();
      if (name.isEmpty() == schedule.isEmpty()) {
        throw new CommandFailure(
            ExitCode.USAGE, "preview: no NAME and no schedule, or both (expected: one of them)");
      }
      String start = JobFilter.time("--from", from, report().now());
      JsonNode preview;
      if (name.isEmpty()) {
        ObjectNode asked = JobChanges.object().put("count", count);
        asked.set("schedule", schedule);
        RhythmFlags.put(asked, "from", start);
        RhythmFlags.put(asked, "zone", shownZone);
        preview = server.post(Address.of("preview"), asked).json();
      } else {
        Address address = of(name, "preview");
        address.with("count", count).with("from", start).with("zone", shownZone);
        preview = server.get(address).json();
      }
      Times.print(preview, report());
      return ExitCode.DONE;
    }
  }

  /** The times of a preview. */
  private static final class Times {
    private Times() {}

    static void print(JsonNode preview, Report report) {
      if (report.json()) {
        report.line(preview);
        return;
      }
      if (report.isScreen()) {
        report.out().println(preview.path("words").asString(""));
      }
      Table table =
          new Table(
              Column.whole("time"), Column.whole("local"), Column.cut("zone"), Column.cut("notes"));
      for (JsonNode time : preview.path("times")) {
        List<String> notes = new ArrayList<>();
        time.path("notes").forEach(note -> notes.add(note.asString("")));
        table.row(
            report.time(time.path("time")),
            JobTexts.text(time, "local"),
            JobTexts.text(time, "zone"),
            String.join("; ", notes));
      }
      report.table(table, "no times to come");
    }
  }

  /** Pauses. */
  @Command(name = "pause", header = "Lets schedules have no occurrences until they are resumed.")
  static final class Pause extends OfNames {
    @Mixin private JobChanges.Reason reason = new JobChanges.Reason();

    @Override
    JsonNode act(ApiClient server, String name) {
      return server.post(of(name, "pause"), reason.body()).json();
    }
  }

  /** Resumes. */
  @Command(name = "resume", header = "Lets paused schedules go on.")
  static final class Resume extends OfNames {
    @Override
    JsonNode act(ApiClient server, String name) {
      return server.post(of(name, "resume")).json();
    }
  }

  /** The same with some schedules. */
  abstract static class OfNames extends ServerCommand {
    @Parameters(
        arity = "1..*",
        paramLabel = "NAME",
        description = "the schedules' names; - reads them from the standard input")
    private List<String> names = new ArrayList<>();

    abstract JsonNode act(ApiClient server, String name);

    @Override
    ExitCode run(ApiClient server) {
      return each(
          Ids.of(names, surroundings()),
          name -> {
            JsonNode answer = act(server, name);
            if (isJson()) {
              ObjectNode line = JobChanges.object().put("name", name);
              report().line(line.setAll((ObjectNode) answer));
            } else {
              String result = answer.path("result").asString("done");
              report().out().println(name + "\t" + result.toLowerCase(Locale.ROOT));
            }
            return ExitCode.DONE;
          });
    }
  }

  /** One occurrence more. */
  @Command(
      name = "trigger",
      header = "Runs one more occurrence of a schedule now.",
      description = "Says the id of the occurrence. Asking again adds another.")
  static final class Trigger extends OfName {
    @Override
    ExitCode run(ApiClient server) {
      String id = JobTexts.text(server.get(of(name())).json(), "id");
      return JobChanges.Trigger.trigger(server, id, report());
    }
  }

  /** Deletes one, some, or those under a prefix. */
  @Command(
      name = "delete",
      header = "Deletes schedules by name, or all under a prefix.",
      description =
          "--prefix test deletes test/a and test/b/c, and not test, test-1 or tester/a: the prefix"
              + " ends at the separator.")
  static final class Delete extends ServerCommand {
    @Parameters(
        arity = "0..*",
        paramLabel = "NAME",
        description = "the schedules' names; - reads them from the standard input")
    private List<String> names = new ArrayList<>();

    @Option(names = "--prefix", paramLabel = "TEXT", description = "all under this prefix")
    private String prefix = "";

    @Option(
        names = "--separator",
        paramLabel = "CHARACTER",
        defaultValue = "/",
        description = "where the prefix ends (default: ${DEFAULT-VALUE})")
    private String separator = "";

    @Option(names = "--dry-run", description = "list what would be deleted; change nothing")
    private boolean dryRun;

    @Option(
        names = {"-y", "--yes"},
        description = "do it; --prefix needs it")
    private boolean yes;

    @Override
    ExitCode run(ApiClient server) {
      if (names.isEmpty() == prefix.isEmpty()) {
        throw new CommandFailure(
            ExitCode.USAGE, "delete: no NAME and no --prefix, or both (expected: one of them)");
      }
      List<String> all = names.isEmpty() ? under(server) : Ids.of(names, surroundings());
      if (dryRun) {
        all.forEach(report().out()::println);
        report().aside(all.size() + " would be deleted");
        return ExitCode.DONE;
      }
      return names.isEmpty() ? deletePrefix(server, all.size()) : delete(server, all);
    }

    private List<String> under(ApiClient server) {
      Address address = Address.of("schedules").with("prefix", prefix + separator);
      return new Pages(server, address, Long.MAX_VALUE)
          .all().stream().map(item -> JobTexts.text(item, "name")).toList();
    }

    private ExitCode delete(ApiClient server, List<String> all) {
      return each(
          all,
          name -> {
            JsonNode answer = server.send("DELETE", of(name), null, Map.of()).json();
            JobChanges.tell(name, answer, report());
            return ExitCode.DONE;
          });
    }

    private ExitCode deletePrefix(ApiClient server, int found) {
      if (!yes) {
        throw new CommandFailure(
            ExitCode.USAGE,
            "--prefix: %d schedules (expected: --yes to delete them, --dry-run to look)"
                .formatted(found));
      }
      long deleted = 0;
      @Nullable JsonNode answer = null;
      do {
        Address address =
            Address.of("schedules").with("prefix", prefix).with("separator", separator);
        answer = server.send("DELETE", address, null, Map.of()).json();
        deleted += answer.path("deleted").asLong(0);
      } while (!answer.path("complete").asBoolean(true) && answer.path("deleted").asLong(0) > 0);
      if (isJson()) {
        report().line(JobChanges.object().put("deleted", deleted));
      } else {
        report().out().println(deleted + " deleted");
      }
      answer
          .path("unreadable")
          .forEach(part -> report().aside("carillon: damaged and left out: " + part.asString("")));
      return answer.path("unreadable").isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
    }
  }
}
