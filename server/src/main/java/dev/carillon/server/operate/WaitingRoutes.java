package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.WaitsInfo;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.JsonText;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Due jobs that do not run, counted by queue and reason, as the nodes themselves tell. */
public final class WaitingRoutes {
  /** How long pages share a look at all jobs in memory. */
  private static final Duration FRESH = Duration.ofSeconds(1);

  private final Carillon carillon;
  private final Recent<WaitsInfo> recent;

  /**
   * What waits on the nodes of a node's store.
   *
   * @param carillon the node
   */
  public WaitingRoutes(Carillon carillon) {
    this.carillon = carillon;
    this.recent = new Recent<>(FRESH, () -> carillon.node().waits(null, null));
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get(
                "listWaiting",
                "/v1/namespaces/{ns}/waiting",
                Role.VIEWER,
                call -> waiting(call, call.namespace()))
            .query("queue"),
        Route.get("listAllWaiting", "/v1/cluster/waiting", Role.VIEWER, call -> waiting(call, null))
            .query("queue"));
  }

  private Answer waiting(Call call, @Nullable String namespace) {
    String queue = call.parameter("queue");
    WaitsInfo waits =
        namespace == null && queue == null ? recent.get() : carillon.node().waits(namespace, queue);
    return Answer.json(
        out ->
            out.list("items", waits.rows(), WaitingRoutes::write)
                .texts("nodes", waits.nodes())
                .texts("silent", waits.silent()));
  }

  private static void write(JsonText out, WaitsInfo.Row row) {
    out.put("namespace", row.namespace())
        .put("queue", row.queue())
        .put("reason", row.reason())
        .put("jobs", row.jobs())
        .put("oldestDue", row.oldestDue())
        .put("example", row.example().value());
  }
}
