package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.gateway.ConnectedWorker;
import dev.carillon.gateway.WorkerTake;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.JsonText;
import java.util.List;

/** The workers that are connected to this server's node, and what they run of its jobs. */
public final class WorkerRoutes {
  private final Carillon carillon;

  /**
   * The workers of a node.
   *
   * @param carillon the node
   */
  public WorkerRoutes(Carillon carillon) {
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(Route.get("listWorkers", "/v1/workers", Role.VIEWER, this::list));
  }

  private Answer list(Call call) {
    List<ConnectedWorker> workers = carillon.node().workers().connected();
    return Answer.json(
        out -> out.put("node", carillon.node().id()).list("items", workers, WorkerRoutes::write));
  }

  private static void write(JsonText out, ConnectedWorker worker) {
    out.put("worker", worker.worker())
        .put("room", worker.room())
        .put("draining", worker.draining())
        .put("silent", worker.silent())
        .list("takes", worker.takes(), WorkerRoutes::write)
        .list("runs", worker.runs(), WorkerRoutes::write);
  }

  private static void write(JsonText out, WorkerTake take) {
    out.put("namespace", take.namespace().isEmpty() ? null : take.namespace())
        .put("queue", take.queue().isEmpty() ? null : take.queue())
        .put("type", take.type().isEmpty() ? null : take.type())
        .put("lease", take.lease());
  }

  private static void write(JsonText out, ConnectedWorker.Running run) {
    out.put("id", run.token().job().value())
        .put("type", run.type())
        .put("attempt", run.token().attempt())
        .put("startedAt", run.started())
        .put("accepted", run.accepted())
        .put("leased", run.leased());
  }
}
