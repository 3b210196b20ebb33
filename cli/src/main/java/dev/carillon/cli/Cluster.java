package dev.carillon.cli;

import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.member.ClusterReader;
import dev.carillon.engine.member.ClusterReader.MemberView;
import dev.carillon.engine.member.ClusterReader.ShardView;
import dev.carillon.engine.member.ClusterReader.View;
import dev.carillon.engine.member.MemberState;
import dev.carillon.engine.member.Orders;
import dev.carillon.engine.member.TimeSlice;
import dev.carillon.store.Head;
import dev.carillon.store.Store;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Who shares a store, and who has which shards. */
@Command(
    name = "cluster",
    subcommands = {ClusterOrder.Drain.class, ClusterOrder.Undrain.class, ClusterOrder.Move.class},
    description = {
      "Shows the nodes that share a store and how many shards each has.",
      "Nothing is claimed and no node is asked: the store is read twice, more than a",
      "sign of life apart, to see who gives one.",
      "",
      "  there    gives signs of life",
      "  leaving  gives its shards back and takes no more",
      "  draining the same, because an operator wants it",
      "  gone     stopped in order and may come back",
      "  silent   gave no sign between the two looks",
      "",
      "clock_ms: by how much its clock is ahead of the store's.",
      "Orders that hold until they are taken back (drain, move) follow where there are any.",
      "",
      "stand_in_of (JSON): the others, and how many of the 128 parts of their shards",
      "it takes while they are not there.",
      "",
      "Shards by time (--times): owned by a node that is there, or free; jobs ever added",
      "to those that have not drained, as their owners last wrote down; uncounted are",
      "shards whose owners may have added more since.",
      ""
    },
    footer = {"", "Example: ./carillon cluster jdbc:postgresql://db/app --shards"})
final class Cluster extends StoreCommand implements Callable<Integer> {
  private static final Duration BETWEEN = Membership.standard().heartbeatInterval().multipliedBy(3);

  @Option(names = "--shards", description = "every shard too, with home, owner and stand-in")
  private boolean withShards;

  @Option(names = "--times", description = "the shards by time too: who has them, jobs to come")
  private boolean withTimes;

  @Option(names = "--json", description = "one JSON object a line instead of tables")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    View view;
    try (Store store = openReadOnly()) {
      ClusterReader reader = new ClusterReader();
      reader.look(store).orThrow();
      Thread.sleep(BETWEEN);
      view = reader.read(store).orThrow();
    }
    PrintWriter out = out();
    print("member", view.members().stream().map(this::row).toList(), out);
    List<Map<String, @Nullable Object>> orders = rows(view.orders());
    if (!orders.isEmpty()) {
      print("order", orders, out);
    }
    if (withTimes) {
      print("slice", view.slices().stream().map(Cluster::row).toList(), out);
    }
    if (withShards) {
      print("shard", view.shards().stream().map(Cluster::row).toList(), out);
    }
    out.flush();
    return 0;
  }

  private void print(String kind, List<Map<String, @Nullable Object>> rows, PrintWriter out) {
    if (json) {
      for (Map<String, @Nullable Object> row : rows) {
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put("kind", kind);
        line.putAll(row);
        out.println(JobJson.line(line));
      }
    } else if (rows.isEmpty()) {
      out.println("no " + kind + "s");
    } else {
      List<List<@Nullable Object>> values = new ArrayList<>();
      rows.forEach(row -> values.add(new ArrayList<>(row.values())));
      TextTable.print(List.copyOf(rows.getFirst().keySet()), values, out);
    }
  }

  private Map<String, @Nullable Object> row(MemberView member) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("node", member.nodeId());
    row.put("incarnation", Long.toHexString(member.incarnation()));
    row.put("state", member.state().name().toLowerCase(Locale.ROOT));
    row.put("home", member.holdings().home());
    row.put("owned", member.holdings().owned());
    row.put("stands_in", member.holdings().standsIn());
    if (json) {
      row.put("stand_in_of", member.standInOf());
    }
    boolean measured = member.clockMicros() != MemberState.CLOCK_UNKNOWN;
    row.put("clock_ms", measured ? member.clockMicros() / 1000 : null);
    return row;
  }

  /** Orders that hold, in the order of nodes and shards. */
  private static List<Map<String, @Nullable Object>> rows(Orders orders) {
    List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    orders.drained().stream().sorted().forEach(node -> rows.add(order("drain", node, null)));
    new TreeMap<>(orders.moved())
        .forEach((shard, node) -> rows.add(order("move", node, shard.toString())));
    return rows;
  }

  private static Map<String, @Nullable Object> order(
      String order, String nodeId, @Nullable String shard) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("order", order);
    row.put("node", nodeId);
    row.put("shard", shard);
    return row;
  }

  private static Map<String, @Nullable Object> row(TimeSlice slice) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("starts", Instant.ofEpochSecond(slice.startSeconds()).toString());
    row.put("seconds", slice.widthSeconds());
    row.put("shards", slice.shards());
    row.put("owned", slice.owned());
    row.put("free", slice.free());
    row.put("drained", slice.drained());
    row.put("jobs", slice.pending());
    row.put("uncounted", slice.uncounted());
    return row;
  }

  private static Map<String, @Nullable Object> row(ShardView shard) {
    Head head = shard.head();
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("shard", head.shard().toString());
    row.put("starts", Instant.ofEpochSecond(head.shard().startSeconds()).toString());
    row.put("home", head.home());
    row.put("owner", shard.owner());
    row.put("to_be_with", shard.standIn());
    row.put("epoch", head.epoch());
    row.put("status", head.status().name().toLowerCase(Locale.ROOT));
    return row;
  }
}
