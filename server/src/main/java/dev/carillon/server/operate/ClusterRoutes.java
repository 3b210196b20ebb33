package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.CarillonFigures;
import dev.carillon.CarillonStats;
import dev.carillon.ClusterInfo;
import dev.carillon.MemberInfo;
import dev.carillon.ShardInfo;
import dev.carillon.ShardsInfo;
import dev.carillon.api.Health;
import dev.carillon.api.Limits;
import dev.carillon.api.Page;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.jobs.Pages;
import dev.carillon.server.jobs.ReasonBody;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The nodes that share the store, their shards by time, and orders to them. */
public final class ClusterRoutes {
  private static final String CLUSTER = "/v1/cluster";
  private static final String MEMBER = CLUSTER + "/members/{node}";

  /** How long pages share an answer that reads the heads of all shards. */
  private static final Duration FRESH = Duration.ofSeconds(2);

  private final Carillon carillon;
  private final Recent<ClusterInfo> recent;

  /**
   * The cluster of a node.
   *
   * @param carillon the node
   */
  public ClusterRoutes(Carillon carillon) {
    this.carillon = carillon;
    this.recent = new Recent<>(FRESH, () -> carillon.node().cluster());
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("getCluster", CLUSTER, Role.VIEWER, this::cluster),
        Route.get("getNodeHealth", CLUSTER + "/health", Role.VIEWER, this::health),
        Route.get("listShards", CLUSTER + "/shards", Role.VIEWER, this::shards)
            .query("limit", "cursor"),
        Route.get("getShardMap", CLUSTER + "/map", Role.VIEWER, this::map),
        Route.post("drainMember", MEMBER + "/drain", Role.ADMIN, this::drain),
        Route.post("undrainMember", MEMBER + "/undrain", Role.ADMIN, this::undrain),
        Route.post("moveShard", CLUSTER + "/shards/{shard}/move", Role.ADMIN, this::move));
  }

  private Answer cluster(Call call) {
    ClusterInfo cluster = recent.get();
    return Answer.json(
        out ->
            out.put("asked", cluster.members().getFirst().info().nodeId())
                .put("complete", cluster.complete())
                .list("members", cluster.members(), ClusterRoutes::write)
                .list("slices", cluster.slices(), ClusterRoutes::write));
  }

  /** What the probes say in fewer words, since anybody may ask them. */
  private Answer health(Call call) {
    Health health = carillon.node().health();
    CarillonFigures figures = carillon.node().figures();
    CarillonStats stats = carillon.node().stats();
    return Answer.json(
        out ->
            out.put("ready", health.ready())
                .put("detail", health.detail())
                .put("refusedShards", stats.refusedShards())
                .put("full", figures.count("commits.full"))
                .put("problems", stats.problems()));
  }

  private static void write(JsonText out, ClusterInfo.Member member) {
    MemberInfo info = member.info();
    out.put("node", info.nodeId())
        .put("incarnation", info.incarnation())
        .put("state", info.state())
        .put("clockOffset", info.clockOffset())
        .put("format", info.format())
        .put("home", member.home())
        .put("owned", member.owned())
        .put("standsIn", member.standsIn())
        .object(
            "standInOf",
            inner ->
                new TreeMap<>(member.standInOf()).forEach((node, parts) -> inner.put(node, parts)));
  }

  private static void write(JsonText out, ClusterInfo.Slice slice) {
    out.put("start", slice.start())
        .put("width", slice.width())
        .put("shards", slice.shards())
        .put("owned", slice.owned())
        .put("inClaim", slice.inClaim())
        .put("free", slice.free())
        .put("drained", slice.drained())
        .put("pending", slice.pending())
        .put("uncounted", slice.uncounted());
  }

  private Answer shards(Call call) {
    Page<ShardInfo> page =
        carillon
            .node()
            .shards(call.parameter("cursor"), call.integer("limit", Limits.PAGE_DEFAULT_ITEMS));
    return Answer.json(out -> Pages.write(out, page, ClusterRoutes::write));
  }

  private static void write(JsonText out, ShardInfo shard) {
    out.put("id", shard.id())
        .put("start", shard.start())
        .put("width", shard.width())
        .put("home", shard.home())
        .put("owner", shard.owner())
        .put("open", shard.open());
  }

  private Answer map(Call call) {
    ShardsInfo shards = carillon.node().shardsByTime();
    return Answer.json(
        out ->
            out.list("items", shards.rows(), ClusterRoutes::write)
                .texts("nodes", shards.nodes())
                .texts("silent", shards.silent()));
  }

  private static void write(JsonText out, ShardsInfo.Row row) {
    out.put("node", row.nodeId())
        .put("start", row.start())
        .put("width", row.width())
        .put("shards", row.shards())
        .put("loaded", row.loaded())
        .put("coming", row.coming())
        .put("going", row.going())
        .put("jobs", row.jobs());
  }

  private Answer drain(Call call) {
    call.read(ReasonBody.NOTHING);
    return ordered(() -> carillon.node().drain(call.variable("node")));
  }

  private Answer undrain(Call call) {
    call.read(ReasonBody.NOTHING);
    return ordered(() -> carillon.node().undrain(call.variable("node")));
  }

  private Answer move(Call call) {
    NodeBody body = call.read(NodeBody.SHAPE);
    return ordered(() -> carillon.node().move(call.variable("shard"), body.node));
  }

  private Answer ordered(Runnable order) {
    try {
      order.run();
      recent.forget();
    } catch (IllegalStateException e) {
      throw Call.conflict("store: held by this node alone (expected: one that nodes share)");
    }
    return Answer.json(out -> out.put("result", "DONE"));
  }

  /** Where a shard is to be. */
  static final class NodeBody {
    static final Shape<NodeBody> SHAPE = Shape.of(NodeBody::new).text("node", (n, v) -> n.node = v);

    private @Nullable String node;
  }
}
