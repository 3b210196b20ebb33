package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.RunningInfo;
import dev.carillon.api.Limits;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.JsonText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What runs now on every node, as the nodes themselves tell. */
public final class RunningRoutes {
  private final Carillon carillon;

  /**
   * What runs on the nodes of a node's store.
   *
   * @param carillon the node
   */
  public RunningRoutes(Carillon carillon) {
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get(
                "listRunning",
                "/v1/namespaces/{ns}/running",
                Role.VIEWER,
                call -> running(call, call.namespace()))
            .query("limit")
            .byQueue(),
        Route.get("listAllRunning", "/v1/cluster/running", Role.VIEWER, call -> running(call, null))
            .query("limit"));
  }

  private Answer running(Call call, @Nullable String namespace) {
    int most = call.integer("limit", Limits.PAGE_DEFAULT_ITEMS);
    RunningInfo running = carillon.node().running(namespace, most);
    return Answer.json(
        out ->
            out.list("items", reached(call, running.jobs()), RunningRoutes::write)
                .list("nodes", running.nodes(), RunningRoutes::write)
                .texts("silent", running.silent()));
  }

  private static List<RunningInfo.Running> reached(Call call, List<RunningInfo.Running> jobs) {
    return jobs.stream().filter(job -> call.caller().mayUse(job.namespace(), job.queue())).toList();
  }

  private static void write(JsonText out, RunningInfo.Running job) {
    out.put("id", job.id().value())
        .put("node", job.nodeId())
        .put("type", job.type())
        .put("namespace", job.namespace())
        .put("queue", job.queue())
        .put("attempt", job.attempt())
        .put("dueAt", job.dueAt())
        .put("startedAt", job.startedAt());
  }

  private static void write(JsonText out, RunningInfo.Count count) {
    out.put("node", count.nodeId()).put("running", count.running()).put("shown", count.shown());
  }
}
