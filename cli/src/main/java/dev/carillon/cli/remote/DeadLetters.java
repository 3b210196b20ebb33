package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/** Jobs whose retries are used up. */
@Command(
    name = "dead-letters",
    header = "Jobs whose retries are used up: groups, list, replay, discard.",
    subcommands = {
      DeadLetters.Groups.class,
      DeadLetters.ListDead.class,
      DeadLetters.Replay.class,
      DeadLetters.Discard.class
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon dead-letters groups",
      "  ./carillon dead-letters replay ID --input '{\"to\": \"ann@example.com\"}'",
      "  ./carillon dead-letters replay --type mail --dry-run",
      "  ./carillon dead-letters replay --fingerprint 'java.io.IOException: refused'"
    })
public final class DeadLetters extends Group {
  /** The group. */
  public DeadLetters() {}

  /** By what they failed with. */
  @Command(
      name = "groups",
      header = "Groups dead letters by what they failed with, the largest group first.",
      description = "In a pipe: fingerprint, count, type, latest, error, id; tabs between.")
  static final class Groups extends ServerCommand {
    @Mixin private JobFilter filter = new JobFilter();

    @Mixin private JobReads.HowMany howMany = new JobReads.HowMany();

    @Override
    ExitCode run(ApiClient server) {
      Address address = filter.on(Address.of("dead-letters", "groups"), report().now());
      Pages pages = new Pages(server, address, howMany.most());
      List<JsonNode> groups = joined(pages.all());
      if (isJson()) {
        groups.forEach(report()::line);
      } else {
        Table table =
            new Table(
                Column.whole("fingerprint"),
                Column.number("count"),
                Column.cut("type"),
                Column.whole("latest"),
                Column.cut("error"),
                Column.optional("id"));
        for (JsonNode group : groups) {
          table.row(
              JobTexts.text(group, "fingerprint"),
              JobTexts.text(group, "count"),
              JobTexts.text(group, "type"),
              report().time(group.path("latestAt")),
              JobTexts.error(group.path("error")),
              JobTexts.text(group, "latest"));
        }
        report().table(table, "no dead letters");
      }
      return pages.conclude(report());
    }

    /** What failed alike may come on several pages, that which ended last first. */
    private static List<JsonNode> joined(List<JsonNode> groups) {
      Map<String, ObjectNode> joined = new LinkedHashMap<>();
      for (JsonNode group : groups) {
        String key = JobTexts.text(group, "type") + "\n" + JobTexts.text(group, "fingerprint");
        ObjectNode newer = joined.putIfAbsent(key, (ObjectNode) group);
        if (newer != null) {
          newer.put("count", newer.path("count").asLong() + group.path("count").asLong());
          newer.set("earliestAt", group.path("earliestAt"));
          hours(newer, group);
        }
      }
      List<JsonNode> sorted = new ArrayList<>(joined.values());
      sorted.sort(
          Comparator.comparingLong((JsonNode each) -> each.path("count").asLong()).reversed());
      return sorted;
    }

    private static void hours(ObjectNode newer, JsonNode group) {
      Map<String, Long> hours = new TreeMap<>();
      for (JsonNode from : List.of(group, newer)) {
        from.path("byHour")
            .forEach(
                hour ->
                    hours.merge(
                        JobTexts.text(hour, "from"), hour.path("count").asLong(), Long::sum));
      }
      ArrayNode all = newer.putArray("byHour");
      hours.forEach((from, count) -> all.addObject().put("from", from).put("count", count));
    }
  }

  /** One by one. */
  @Command(
      name = "list",
      header = "Lists dead letters, the one that died last first.",
      description = "In a pipe the columns are those of jobs list.")
  static final class ListDead extends ServerCommand {
    @Mixin private JobFilter filter = new JobFilter();

    @Mixin private JobReads.HowMany howMany = new JobReads.HowMany();

    @Override
    ExitCode run(ApiClient server) {
      Address address = filter.on(Address.of("jobs"), report().now());
      Pages pages =
          new Pages(server, address.with("state", "DEAD").with("newest", "true"), howMany.most());
      List<JsonNode> dead = pages.all();
      if (isJson()) {
        dead.forEach(report()::line);
      } else {
        report().table(JobTexts.table(dead, report()), "no dead letters");
      }
      return pages.conclude(report());
    }
  }

  /** The same with each of some dead letters, or with all that fit. */
  abstract static class OfDead extends JobChanges.OfJobs {
    @Option(
        names = "--fingerprint",
        paramLabel = "TEXT",
        description = "those that failed with this, as groups names it")
    private String fingerprint = "";

    @Override
    ExitCode run(ApiClient server) {
      filter().fingerprint(fingerprint);
      return super.run(server);
    }
  }

  /** Tries them again. */
  @Command(
      name = "replay",
      header = "Tries dead letters again, as the same jobs, perhaps with another input.")
  static final class Replay extends OfDead {
    @Option(
        names = {"-i", "--input"},
        paramLabel = "JSON",
        description =
            "another input, JSON; @FILE reads a file, - the standard input; with ids only")
    private String input = "";

    @Override
    String action() {
      return "replay";
    }

    @Override
    ObjectNode body() {
      ObjectNode body = JobChanges.object();
      if (!input.isEmpty()) {
        body.putRawValue("input", new RawValue(JobFlags.json("--input", input, surroundings())));
      }
      return body;
    }
  }

  /** Lets go of them. */
  @Command(name = "discard", header = "Lets go of dead letters. They are not found any more.")
  static final class Discard extends OfDead {
    @Override
    String action() {
      return "discard";
    }

    @Override
    ObjectNode body() {
      return JobChanges.object();
    }
  }
}
