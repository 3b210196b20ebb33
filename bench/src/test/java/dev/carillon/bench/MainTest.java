package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The benchmarks run, print what they should and exit as their figures say. How fast is not looked
 * at here.
 */
class MainTest {
  private static final JsonMapper JSON = new JsonMapper();

  /** Set where every benchmark is to run, which takes minutes more than every build should. */
  private static final String ALL = "carillon.benchmarks";

  /** Facts that a machine may be too busy for. */
  private static final Set<String> ABOUT_SPEED =
      Set.of(
          "the rate was kept",
          "measured before the first was due",
          "all was scheduled before it was due",
          "the one was at work until the last of them was due");

  @TempDir Path folder;

  @Test
  void throughputOnAFileFindsItsJobsAgain() throws Exception {
    List<JsonNode> figures =
        run(
            "throughput",
            "--scenario=plain,named",
            "--in-flight=512",
            "--backlog=1000",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1");
    assertThat(values(figures, "throughput", "a fresh process")).containsOnly(1.0);
    assertThat(values(figures, "throughput, names", "a fresh process")).containsOnly(1.0);
    assertThat(values(figures, "throughput", "share of the raw rate")).hasSize(1);
    assertThat(values(figures, "throughput", "rate")).isNotEmpty();
  }

  @Test
  void throughputOnAServerStandsBesidePlainInserts() throws Exception {
    List<JsonNode> figures =
        run(
            "throughput",
            "--store=postgres",
            "--in-flight=512",
            "--backlog=1000",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1");
    assertThat(values(figures, "throughput", "a fresh process")).containsOnly(1.0);
    assertThat(values(figures, "throughput", "share of the raw rate")).hasSize(1);
    assertThat(figures)
        .allSatisfy(
            figure ->
                assertThat(figure.get("settings").get("postgres").asString())
                    .contains("fsync=on", "synchronous_commit=on", "full_page_writes=on"));
  }

  @Test
  void workflowsAreMeasuredBesidePlainJobsAndFoundAgain() throws Exception {
    List<JsonNode> figures =
        run(
            "workflow",
            "--in-flight=512",
            "--backlog=1000",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1",
            "--samples=5",
            "--steps=400");
    assertThat(values(figures, "workflow", "a fresh process")).hasSize(2).containsOnly(1.0);
    assertThat(values(figures, "workflow", "operations, of those of plain jobs")).hasSize(1);
    assertThat(values(figures, "workflow", "share of the raw rate")).hasSize(1);
    assertThat(values(figures, "workflow, alone", "scheduled to result, p50")).hasSize(1);
    assertThat(values(figures, "workflow, long", "the last 200, of the first")).hasSize(1);
    assertThat(values(figures, "workflow, replay", "every workflow ran again")).containsOnly(1.0);
  }

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
    List<JsonNode> figures = run("deploys", "--deploys=4", "--jobs=900", "--ids=never-return");
    String scenario = DeploysRun.Ids.NEVER_RETURN.scenario();
    assertThat(values(figures, scenario, "every job is pending")).containsExactly(1.0);
    assertThat(values(figures, scenario, "start, deploy")).hasSize(4);
    assertThat(values(figures, scenario, "take-over, deploy")).hasSize(4);
    assertThat(values(figures, scenario, "shards with pending jobs")).hasSize(4);
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
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void throughputInMemoryStandsBesideItsFloor() throws Exception {
    List<JsonNode> figures =
        run(
            "throughput",
            "--store=memory",
            "--scenario=bytes",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1");
    assertThat(values(figures, "throughput, bytes", "share of the floor")).hasSize(1);
    assertThat(values(figures, "throughput, bytes", "the store holds")).containsOnly(1.0);
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

  private static List<Double> values(List<JsonNode> figures, String scenario, String metric) {
    return figures.stream()
        .filter(figure -> figure.get("scenario").asString().equals(scenario))
        .filter(figure -> figure.get("metric").asString().startsWith(metric))
        .map(figure -> figure.get("value").asDouble())
        .toList();
  }

  /** Runs a benchmark as a user does, with figures as JSON, and looks that it cleans up. */
  private List<JsonNode> run(String... args) throws Exception {
    List<String> all =
        Stream.concat(Stream.of(args), Stream.of("--json", "--dir=" + folder)).toList();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    int exit;
    try {
      exit = Main.run(all.toArray(String[]::new));
    } finally {
      System.setOut(before);
    }
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
    List<JsonNode> figures =
        out.toString(StandardCharsets.UTF_8).lines().map(JSON::readTree).toList();
    assertThat(figures)
        .isNotEmpty()
        .allSatisfy(
            figure ->
                assertThat(figure.propertyNames())
                    .contains(
                        "scenario", "system", "store", "metric", "value", "unit", "settings"));
    assertThat(exit)
        .as("0 if all bounds hold, else 1")
        .isEqualTo(failed(figures).isEmpty() ? 0 : 1);
    assertThat(failed(figures)).noneMatch(MainTest::isAboutJobs);
    return figures;
  }

  private static List<JsonNode> failed(List<JsonNode> figures) {
    return figures.stream().filter(figure -> "FAIL".equals(verdict(figure))).toList();
  }

  private static String verdict(JsonNode figure) {
    return figure.path("verdict").asString("");
  }

  /** Whether it must hold on any machine, however busy: no job is lost, none starts early. */
  private static boolean isAboutJobs(JsonNode figure) {
    String metric = figure.get("metric").asString();
    boolean fact = figure.get("unit").asString().equals("1=yes");
    return metric.startsWith("earliest start") || (fact && !ABOUT_SPEED.contains(metric));
  }
}
