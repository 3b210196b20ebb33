package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Paint;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Cell;
import dev.carillon.cli.text.Table.Column;
import dev.carillon.cli.text.Times;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The nodes that share a store. */
@Command(
    name = "cluster",
    header = "The nodes that share a store, and who has which shards.",
    description =
        "Without an address the server is asked, as cluster members is. With one no node is asked"
            + " and nothing claimed: the store is read twice, more than a sign of life apart. A node"
            + " is there, leaving (gives its shards back), draining (the same, because an operator"
            + " wants it), gone (stopped in order, may come back), dead, or silent (no sign between"
            + " the two looks). clock_ms: by how much its clock is ahead of the store's.",
    subcommands = {
      ClusterCommands.Members.class,
      ClusterCommands.Shards.class,
      ClusterCommands.ByTime.class,
      ClusterCommands.Running.class,
      ClusterCommands.Drain.class,
      ClusterCommands.Undrain.class,
      ClusterCommands.Move.class
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon cluster members",
      "  ./carillon cluster drain node-7",
      "  ./carillon cluster jdbc:postgresql://db/app --shards"
    })
public final class ClusterCommands extends ServerCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "URL",
      description = "a store to read without a server: jdbc:sqlite:FILE, jdbc:postgresql://HOST/DB")
  private String url = "";

  @Option(names = "--shards", description = "every shard too, with home, owner and stand-in")
  private boolean withShards;

  @Option(names = "--times", description = "the shards by time too: who has them, jobs to come")
  private boolean withTimes;

  /** The command. */
  public ClusterCommands() {}

  @Override
  public Integer call() {
    if (url.isEmpty()) {
      return super.call();
    }
    List<String> arguments = new ArrayList<>(List.of(url));
    add(arguments, withShards, "--shards");
    add(arguments, withTimes, "--times");
    add(arguments, isJson(), "--json");
    return onStore(arguments);
  }

  private static void add(List<String> arguments, boolean wanted, String option) {
    if (wanted) {
      arguments.add(option);
    }
  }

  @Override
  ExitCode run(ApiClient server) {
    JsonNode cluster = server.get(Address.root("cluster")).json();
    showMembers(cluster, report());
    if (withTimes) {
      showTimes(cluster, report());
    }
    ExitCode ended = conclude(cluster, report());
    return withShards ? showShards(server, Long.MAX_VALUE, report()) : ended;
  }

  private static ExitCode conclude(JsonNode cluster, Report report) {
    if (cluster.path("complete").asBoolean(true)) {
      return ExitCode.DONE;
    }
    report.aside("carillon: shards are missing: too many to count, or damaged");
    return ExitCode.FAILED;
  }

  private static void showMembers(JsonNode cluster, Report report) {
    if (report.json()) {
      cluster.path("members").forEach(report::line);
      return;
    }
    Table table =
        new Table(
            Column.whole("node"),
            Column.whole("state"),
            Column.number("home"),
            Column.number("owned"),
            Column.number("stands in"),
            Column.number("clock"),
            Column.optional("incarnation"));
    for (JsonNode member : cluster.path("members")) {
      String state = JobTexts.text(member, "state");
      table.row(
          JobTexts.text(member, "node"),
          new Cell(state, paint(state)),
          JobTexts.text(member, "home"),
          JobTexts.text(member, "owned"),
          JobTexts.text(member, "standsIn"),
          clock(member.path("clockOffset")),
          JobTexts.text(member, "incarnation"));
    }
    report.table(table, "no nodes");
    report.aside("as node " + JobTexts.text(cluster, "asked") + " sees them");
  }

  /** By how much it is ahead of the store's. */
  private static String clock(JsonNode offset) {
    try {
      return offset.isString() ? Duration.parse(offset.asString()).toMillis() + "ms" : "";
    } catch (DateTimeException e) {
      return offset.asString("");
    }
  }

  static Paint paint(String state) {
    return switch (state) {
      case "THERE" -> Paint.GREEN;
      case "DEAD" -> Paint.RED;
      case "LEAVING", "DRAINING" -> Paint.YELLOW;
      default -> Paint.DIM;
    };
  }

  private static void showTimes(JsonNode cluster, Report report) {
    if (report.json()) {
      cluster.path("slices").forEach(report::line);
      return;
    }
    Table table =
        new Table(
            Column.whole("from"),
            Column.whole("width"),
            Column.number("shards"),
            Column.number("owned"),
            Column.number("free"),
            Column.number("drained"),
            Column.number("jobs to come"));
    for (JsonNode slice : cluster.path("slices")) {
      boolean more = slice.path("uncounted").asLong(0) > 0;
      table.row(
          report.time(slice.path("start")),
          width(slice),
          JobTexts.text(slice, "shards"),
          JobTexts.text(slice, "owned"),
          JobTexts.text(slice, "free"),
          JobTexts.text(slice, "drained"),
          (more ? "≥ " : "") + JobTexts.text(slice, "pending"));
    }
    report.table(table, "no shards");
  }

  private static String width(JsonNode node) {
    String text = JobTexts.text(node, "width");
    try {
      return Times.length(Duration.parse(text));
    } catch (DateTimeException e) {
      return text;
    }
  }

  private static ExitCode showShards(ApiClient server, long most, Report report) {
    Pages pages = new Pages(server, Address.root("cluster", "shards"), most);
    List<JsonNode> shards = pages.all();
    if (report.json()) {
      shards.forEach(report::line);
      return pages.conclude(report);
    }
    Table table =
        new Table(
            Column.whole("shard"),
            Column.whole("from"),
            Column.whole("width"),
            Column.cut("home"),
            Column.cut("owner"),
            Column.optional("open"));
    for (JsonNode shard : shards) {
      table.row(
          JobTexts.text(shard, "id"),
          report.time(shard.path("start")),
          width(shard),
          JobTexts.text(shard, "home"),
          JobTexts.text(shard, "owner"),
          shard.path("open").asBoolean(false) ? "open" : "");
    }
    report.table(table, "no shards");
    return pages.conclude(report);
  }

  /** The nodes. */
  @Command(
      name = "members",
      header = "Lists the nodes that share the store.",
      description =
          "In a pipe: node, state, home, owned, stands in, clock, incarnation; tabs between.")
  static final class Members extends ServerCommand {
    @Override
    ExitCode run(ApiClient server) {
      JsonNode cluster = server.get(Address.root("cluster")).json();
      showMembers(cluster, report());
      return conclude(cluster, report());
    }
  }

  /** The shards. */
  @Command(
      name = "shards",
      header = "Lists the shards, earliest first.",
      description = "In a pipe: shard, from, width, home, owner, open; tabs between.")
  static final class Shards extends ServerCommand {
    @Mixin private JobReads.HowMany howMany = new JobReads.HowMany();

    @Override
    ExitCode run(ApiClient server) {
      return showShards(server, howMany.most(), report());
    }
  }

  /** The shards by time. */
  @Command(
      name = "times",
      header = "Shows the shards by time: who has them, and the jobs to come.",
      description =
          "In a pipe: from, width, shards, owned, free, drained, jobs to come; tabs between.")
  static final class ByTime extends ServerCommand {
    @Override
    ExitCode run(ApiClient server) {
      JsonNode cluster = server.get(Address.root("cluster")).json();
      showTimes(cluster, report());
      return conclude(cluster, report());
    }
  }

  /** What runs. */
  @Command(
      name = "running",
      header = "Lists what runs now on every node, of all namespaces.",
      description =
          "Exit code 1 where a node gave no answer. In a pipe: id, node, type, namespace, queue,"
              + " attempt, began; tabs between.")
  static final class Running extends ServerCommand {
    @Mixin private RunningJobs running = new RunningJobs();

    @Override
    ExitCode run(ApiClient server) {
      return running.show(server, Address.root("cluster", "running"), report());
    }
  }

  /** An order to the nodes, through a server, or through the store by its address. */
  abstract static class Order extends ServerCommand {
    private static final String STORE = "jdbc:";

    @Parameters(
        arity = "1..3",
        paramLabel = "[URL] WHAT",
        description = "perhaps the address of a store, then what the order is about")
    private List<String> arguments = new ArrayList<>();

    /** The words of the order, without an address. */
    List<String> words(int fewest, int most, String expected) {
      if (arguments.size() < fewest || arguments.size() > most) {
        throw CommandFailure.invalid("arguments", String.join(" ", arguments), expected);
      }
      return arguments;
    }

    @Override
    public Integer call() {
      if (!arguments.getFirst().toLowerCase(Locale.ROOT).startsWith(STORE)) {
        return super.call();
      }
      List<String> all = new ArrayList<>(List.of(spec().name()));
      all.addAll(arguments);
      return onStore(all);
    }

    ExitCode send(ApiClient server, Address address, ObjectNode body) {
      JsonNode answer = server.post(address, body).json();
      if (isJson()) {
        report().line(answer);
      } else {
        report().out().println("ordered; the nodes see it with their next look");
      }
      return ExitCode.DONE;
    }
  }

  /** A node without shards. */
  @Command(
      name = "drain",
      header = "A node hands its shards to others and takes none until undrain.",
      description =
          "After what runs of them has ended; also after a restart. What is scheduled through it"
              + " goes the same way. The last node that is there keeps its shards. WHAT: the node.")
  static final class Drain extends Order {
    @Override
    ExitCode run(ApiClient server) {
      String node = words(1, 1, "a node").getFirst();
      return send(server, Address.root("cluster", "members", node, "drain"), JobChanges.object());
    }
  }

  /** With shards again. */
  @Command(
      name = "undrain",
      header = "Takes a drain back: the node's shards come home.",
      description = "WHAT: the node.")
  static final class Undrain extends Order {
    @Override
    ExitCode run(ApiClient server) {
      String node = words(1, 1, "a node").getFirst();
      return send(server, Address.root("cluster", "members", node, "undrain"), JobChanges.object());
    }
  }

  /** A shard to a node. */
  @Command(
      name = "move",
      header = "A shard goes to a certain node, or back to where it was made.",
      description =
          "It stays there while the node is there. WHAT: the shard and the node; without a node the"
              + " order is taken back.")
  static final class Move extends Order {
    @Override
    ExitCode run(ApiClient server) {
      List<String> words = words(1, 2, "a shard, and perhaps a node");
      ObjectNode body = JobChanges.object();
      if (words.size() > 1) {
        body.put("node", words.get(1));
      }
      return send(server, Address.root("cluster", "shards", words.getFirst(), "move"), body);
    }
  }
}
