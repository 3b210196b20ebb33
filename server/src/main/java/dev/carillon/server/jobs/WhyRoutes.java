package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.WhyInfo;
import dev.carillon.api.JobInfo;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.JsonText;
import java.util.List;
import java.util.TreeMap;

/** Why a job does not run, as the node that has it tells. */
public final class WhyRoutes {
  private final Jobs jobs;
  private final Carillon carillon;

  /**
   * What keeps the jobs of a node's store.
   *
   * @param carillon the node
   */
  public WhyRoutes(Carillon carillon) {
    this.jobs = new Jobs(carillon);
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("getJobWhy", "/v1/namespaces/{ns}/jobs/{id}/why", Role.VIEWER, this::why));
  }

  private Answer why(Call call) {
    JobInfo job = jobs.found(call);
    WhyInfo why = carillon.why(job.id()).orElseThrow(Call::notFound);
    return Answer.json(out -> write(out, why));
  }

  private static void write(JsonText out, WhyInfo why) {
    out.put("id", why.job().id().value())
        .put("state", why.job().state())
        .put("at", why.at())
        .put("node", why.node());
    WhyInfo.Run run = why.run();
    if (run != null) {
      out.object(
          "run",
          inner ->
              inner
                  .put("node", run.node())
                  .put("attempt", run.attempt())
                  .put("startedAt", run.startedAt())
                  .put("returned", run.returned()));
    }
    out.list("reasons", why.reasons(), WhyRoutes::write);
  }

  private static void write(JsonText out, WhyInfo.Reason reason) {
    out.put("reason", reason.reason())
        .put("detail", reason.detail())
        .texts("facts", new TreeMap<>(reason.facts()))
        .put("since", reason.since())
        .put("until", reason.until())
        .put("ends", reason.ends());
  }
}
