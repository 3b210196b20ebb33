package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.ClusterInfo;
import dev.carillon.MemberInfo;
import dev.carillon.ShardInfo;
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
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The nodes that share the store, their shards by time, and orders to them. */
public final class ClusterRoutes {
  private static final String CLUSTER = "/v1/cluster";
  private static final String MEMBER = CLUSTER + "/members/{node}";

  private final Carillon carillon;

  /**
   * The cluster of a node.
   *
   * @param carillon the node
   */
  public ClusterRoutes(Carillon carillon) {
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("getCluster", CLUSTER, Role.VIEWER, this::cluster),
        Route.get("listShards", CLUSTER + "/shards", Role.VIEWER, this::shards)
            .query("limit", "cursor"),
        Route.post("drainMember", MEMBER + "/drain", Role.ADMIN, this::drain),
        Route.post("undrainMember", MEMBER + "/undrain", Role.ADMIN, this::undrain),
        Route.post("moveShard", CLUSTER + "/shards/{shard}/move", Role.ADMIN, this::move));
  }

  private Answer cluster(Call call) {
    ClusterInfo cluster = carillon.node().cluster();
    return Answer.json(
        out ->
            out.put("asked", cluster.members().getFirst().info().nodeId())
                .put("complete", cluster.complete())
                .list("members", cluster.members(), ClusterRoutes::write)
                .list("slices", cluster.slices(), ClusterRoutes::write));
  }

  private static void write(JsonText out, ClusterInfo.Member member) {
    MemberInfo info = member.info();
    out.put("node", info.nodeId())
        .put("incarnation", info.incarnation())
        .put("state", info.state())
        .put("clockOffset", info.clockOffset())
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

  private static Answer ordered(Runnable order) {
    try {
      order.run();
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
