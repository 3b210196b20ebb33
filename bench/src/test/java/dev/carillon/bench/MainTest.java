package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import tools.jackson.databind.JsonNode;

/**
 * The benchmarks run, print what they should and exit as their figures say. How fast is not looked
 * at here.
 */
class MainTest extends BenchmarkRun {
  @Test
  void aBacklogIsBurntDownBesideAPeer() throws Exception {
    List<JsonNode> figures =
        run("compare", "--scenario=burn-down", "--peer=db-scheduler", "--jobs=2000", "--rounds=2");
    assertThat(values(figures, "burn-down", "nothing is left")).hasSize(4).containsOnly(1.0);
    assertThat(values(figures, "burn-down", "ratio_to_peer")).hasSize(1);
  }

  @Test
  void groupIsMeasuredWithAndWithoutAWaiter() throws Exception {
    List<JsonNode> figures = run("group", "--store=memory", "--members=200", "--rounds=1");
    assertThat(values(figures, "group", "time, ")).hasSize(2).allMatch(millis -> millis > 0);
    assertThat(values(figures, "group", "time with a waiter")).hasSize(1);
    assertThat(values(figures, "group", "others p99")).hasSize(2);
  }

  @Test
  void attemptsInAWorkerAreMeasuredBesideThoseInTheNode() throws Exception {
    List<JsonNode> figures =
        run("remote", "--scenario=rate,http,latency", "--jobs=2000", "--samples=20", "--rounds=1");
    assertThat(values(figures, "rate", "in a worker")).hasSize(1).allMatch(rate -> rate > 0);
    assertThat(values(figures, "http", "over 16 connections")).allMatch(rate -> rate > 0);
    assertThat(values(figures, "latency, idle", "in a worker, p50")).hasSize(1);
  }

  @Test
  void exitCodeSaysWhetherABoundDoesNotHold() {
    assertThat(verdictOn(1.9)).isZero();
    assertThat(verdictOn(2.1)).isEqualTo(1);
  }

  private static int verdictOn(double value) {
    PrintStream nowhere = new PrintStream(new ByteArrayOutputStream());
    Report report = new Report(true, "memory", nowhere, nowhere);
    report.figure(Figure.of("group", "time", 1, "ms").held(Bound.atMost(2)));
    report.figure(Figure.of("group", "time", value, "ms").held(Bound.atMost(2)));
    return report.verdict();
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void churnLeavesNoDeadRowsOfJobs() throws Exception {
    List<JsonNode> figures = run("churn", "--minutes=1", "--warmup=1", "--producers=8");
    assertThat(values(figures, "churn", "the old transaction was open")).containsOnly(1.0);
    JsonNode dead =
        figures.stream()
            .filter(figure -> figure.get("metric").asString().equals("dead rows"))
            .findFirst()
            .orElseThrow();
    assertThat(dead.get("verdict").asString()).as(dead.toString()).isEqualTo("PASS");
  }

  @Test
  void deploysWithNewIdsAddNoShards() throws Exception {
    List<JsonNode> figures = run("deploys", "--deploys=3", "--jobs=900", "--ids=never-return");
    String scenario = DeploysRun.Ids.NEVER_RETURN.scenario();
    assertThat(values(figures, scenario, "every job is pending")).containsExactly(1.0);
    assertThat(values(figures, scenario, "start, deploy")).hasSize(3);
    assertThat(values(figures, scenario, "take-over, deploy")).hasSize(3);
    assertThat(values(figures, scenario, "shards with pending jobs")).hasSize(3);
    assertThat(figures)
        .filteredOn(figure -> figure.get("metric").asString().startsWith("shards with"))
        .allSatisfy(figure -> assertThat(figure.get("verdict").asString()).isEqualTo("PASS"));
  }

  @Test
  void aStoreThatABenchmarkDoesNotKnowIsRefused() {
    assertThat(Main.run("backlog", "--store=postgres")).isEqualTo(2);
    assertThat(Main.run("pending", "--store=postgres")).isEqualTo(2);
    assertThat(Main.run("workflow", "--store=memory")).isEqualTo(2);
  }

  @Test
  void apiIsMeasuredFromBesideTheServer() throws Exception {
    List<JsonNode> figures =
        run(
            "api",
            "--scenario=single,batch",
            "--connections=4",
            "--seconds=2",
            "--warmup=1",
            "--rounds=1");
    for (String scenario : List.of("single", "batch")) {
      assertThat(values(figures, scenario, "jobs scheduled")).hasSize(1).allMatch(rate -> rate > 0);
      assertThat(values(figures, scenario, "get of a job meanwhile"))
          .hasSize(1)
          .allMatch(millis -> millis > 0);
    }
  }

  @Test
  void dashboardIsMeasuredPageByPageAndWithMany() throws Exception {
    List<JsonNode> figures =
        run(
            "dashboard",
            "--ended=60000",
            "--pending=1000",
            "--due=200",
            "--dashboards=3",
            "--seconds=1",
            "--warmup=1");
    for (String page : List.of("overview", "jobs", "job", "queues", "time map", "lateness")) {
      assertThat(values(figures, "dashboard", page + ": data"))
          .as(page)
          .hasSize(1)
          .allMatch(millis -> millis > 0);
      assertThat(values(figures, "dashboard", page + ": reads")).as(page).hasSize(1);
    }
    assertThat(values(figures, "dashboard", "CPU of 3 dashboards")).hasSize(1);
    assertThat(values(figures, "dashboard", "later by")).hasSize(1);
  }

  @Test
  void latencyStandsBesideAnExecutor() throws Exception {
    List<JsonNode> figures =
        run("latency", "--samples=20", "--rate=1000", "--seconds=1", "--warmup=1");
    assertThat(values(figures, "latency, idle", "p99 behind the executor")).hasSize(1);
    assertThat(values(figures, "latency, idle", "earliest start")).allMatch(early -> early >= 0);
    assertThat(values(figures, "latency, loaded", "jobs measured")).containsExactly(1000.0);
    assertThat(values(figures, "latency, loaded", "earliest start")).allMatch(early -> early >= 0);
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void pendingSurvivesARestart() throws Exception {
    List<JsonNode> figures = run("pending", "--jobs=5000", "--near-jobs=1000", "--cancels=10");
    assertThat(values(figures, "pending, restarted", "from start to first")).hasSize(1);
    assertThat(values(figures, "pending, restarted", "jobs on the first page"))
        .allMatch(jobs -> jobs >= 1);
    assertThat(values(figures, "pending, within a minute", "heap, each job beyond")).hasSize(1);
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void tenantsStandBesideDueOrder() throws Exception {
    List<JsonNode> figures = run("tenants", "--jobs=2000", "--tenants=5", "--each=4");
    assertThat(values(figures, "tenants", "lateness of the others p99")).hasSize(1);
    assertThat(values(figures, "due order", "jobs of the others")).containsExactly(20.0);
    assertThat(values(figures, "tenants", "earliest start")).allMatch(early -> early >= 0);
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void backlogIsWorkedOffBesideNewJobs() throws Exception {
    List<JsonNode> figures =
        run("backlog", "--jobs=3000", "--rate=100", "--slots=8", "--handler-millis=2");
    assertThat(values(figures, "backlog", "lateness of newly due jobs p99")).hasSize(1);
    assertThat(values(figures, "backlog", "most attempts at once")).allMatch(most -> most <= 8);
    assertThat(values(figures, "backlog", "heap growth")).hasSize(1);
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void cronStandsBesideOtherLibraries() throws Exception {
    List<JsonNode> figures = run("cron", "--seconds=1", "--warmup=1", "--rounds=1");
    assertThat(values(figures, "cron 0 30 2 * * ?", "next time")).hasSize(4);
    assertThat(values(figures, "cron 0 30 2 * * ?", "cost, of carillon's")).hasSize(3);
    assertThat(values(figures, "cron 0 0 12 ? * FRI#2", "all give the same first time"))
        .containsExactly(1.0);
  }
}
