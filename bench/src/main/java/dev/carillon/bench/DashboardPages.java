package dev.carillon.bench;

import dev.carillon.api.JobInfo;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the pages of the dashboard ask before they show their data, one after the other. */
final class DashboardPages {
  static final List<String> OVERVIEW =
      List.of(
          "/v1/cluster/health",
          "/v1/cluster",
          "/v1/cluster/running?limit=20",
          "/v1/cluster/waiting",
          "/v1/cluster/figures?range=PT10M");

  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final String PAGE = "limit=50&within=PT0.3S";

  private final InetSocketAddress server;
  private final Map<String, List<String>> pages = new LinkedHashMap<>();

  DashboardPages(InetSocketAddress server, String job, JobInfo schedule) {
    this.server = server;
    pages.put("overview", OVERVIEW);
    pages.put("jobs", List.of(JOBS + "?" + PAGE));
    pages.put("jobs, ended last first", List.of(JOBS + "?newest=true&" + PAGE));
    pages.put("jobs, dead", List.of(JOBS + "?state=DEAD&" + PAGE));
    pages.put("jobs, blocked", List.of(JOBS + "?state=BLOCKED&" + PAGE));
    pages.put(
        "job",
        List.of(
            JOBS + "/" + job + "/history", JOBS + "/" + job + "/why", JOBS + "/" + job + "/input"));
    pages.put("running", List.of("/v1/cluster/running?limit=500"));
    pages.put("schedules", List.of("/v1/namespaces/default/schedules?" + PAGE));
    String one = "/v1/namespaces/default/schedules/" + schedule.name();
    pages.put(
        "schedule",
        List.of(
            one,
            one + "/preview?count=10",
            JOBS + "?newest=true&limit=30&within=PT0.3S&occurrencesOf=" + schedule.id().value()));
    pages.put("dead letters", List.of("/v1/namespaces/default/dead-letters/groups?within=PT0.3S"));
    pages.put(
        "queues", List.of("/v1/queues", "/v1/cluster/waiting", "/v1/cluster/lateness?range=PT10M"));
    pages.put(
        "queue",
        List.of(
            "/v1/queues/default",
            "/v1/cluster/waiting",
            "/v1/cluster/lateness?range=PT10M",
            "/v1/cluster/running?limit=500"));
    pages.put("nodes", List.of("/v1/cluster", "/v1/cluster/running?limit=1"));
    pages.put("time map", List.of("/v1/cluster/map", "/v1/cluster"));
    pages.put("lateness", List.of("/v1/cluster/lateness?range=PT2H"));
    pages.put("audit", List.of("/v1/namespaces/carillon.audit/jobs?newest=true&" + PAGE));
    pages.put("tokens", List.of("/v1/tokens"));
    pages.put("settings", List.of("/v1/namespaces/default/flow"));
  }

  Set<String> names() {
    return pages.keySet();
  }

  void loadAll() throws IOException {
    for (String page : names()) {
      var unused = load(page);
    }
  }

  /** Asks what a page asks; the nanoseconds until it has all. */
  long load(String page) throws IOException {
    long began = System.nanoTime();
    try (ApiConnection connection = new ApiConnection(server)) {
      for (String path : pages.getOrDefault(page, List.of())) {
        var unused = connection.send(ApiConnection.get(path), 200);
      }
    }
    return System.nanoTime() - began;
  }
}
