package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.cli.text.Terminal;
import dev.carillon.fixture.PostgresServer;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What operators do, against a server in a process of its own. */
@Timeout(300)
class OperateCommandsTest {
  @TempDir static Path folder;

  private static ServerProcess server;
  private static String workflow;

  private final Shell shell = new Shell(folder);

  @BeforeAll
  static void serve() throws Exception {
    workflow = StoreOfJobs.fill(folder);
    server = ServerProcess.start(folder);
    assertThat(server.base()).isNotEmpty();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  // ---- schedule

  @Test
  void optionsOfScheduleAreAJob() {
    String line =
        shell.ok(
            "schedule",
            "mail",
            "--input",
            "{\"to\": 1.50}",
            "--in",
            "1d 2h",
            "--queue",
            "slow",
            "--priority",
            "3",
            "--meta",
            "a=b",
            "--timeout",
            "5m",
            "--retry",
            "constant",
            "--retry-interval",
            "90s",
            "--retry-max",
            "4",
            "--concurrency-key",
            "k",
            "--dry-run");
    assertThat(line)
        .isEqualTo(
            "{\"type\":\"mail\",\"input\":{\"to\": 1.50},\"queue\":\"slow\",\"priority\":3,"
                + "\"metadata\":{\"a\":\"b\"},\"timeout\":\"5m\",\"onFailure\":{\"kind\":"
                + "\"CONSTANT\",\"interval\":\"90s\",\"maxRetries\":4},\"concurrency\":{\"key\":"
                + "\"k\"},\"in\":\"PT26H\"}");
    String id = shell.input(line).ok("schedule", "--from", "-");
    assertThat(shell.ok("jobs", "input", id)).isEqualTo("{\"to\": 1.50}");
    assertThat(shell.ok("jobs", "get", id)).contains("due        in 1d 1h", "meta.a     b");
    shell.ok("jobs", "cancel", id);
  }

  @Test
  void sameKeyIsTheSameJob() {
    String first = shell.ok("schedule", "t", "--in", "2d", "--key", "order-1");
    assertThat(shell.ok("schedule", "t", "--in", "2d", "--key", "order-1")).isEqualTo(first);
    assertThat(shell.err()).contains("a job of that name or key was there");
    shell.ok("schedule", "t", "--in", "2d", "--name", "taken");
    assertThat(shell.run("schedule", "t", "--in", "2d", "--name", "taken")).isEqualTo(4);
    assertThat(shell.err()).contains("taken").contains("job j");
    shell.ok("jobs", "cancel", "--type", "t", "--yes");
  }

  @Test
  void wrongValuesOfScheduleAreNamed() throws Exception {
    assertThat(shell.run("schedule")).isEqualTo(2);
    assertThat(shell.err()).contains("no TYPE and no --from, or both (expected: one of them)");
    assertThat(shell.run("schedule", "t", "--input", "text")).isEqualTo(2);
    assertThat(shell.err()).contains("--input: text (expected: a value of JSON; a text stands in");
    assertThat(shell.run("schedule", "t", "--input", "@none.json")).isEqualTo(2);
    assertThat(shell.err()).contains("none.json (expected: an existing file)");
    assertThat(shell.run("schedule", "t", "--retry-max", "3")).isEqualTo(2);
    assertThat(shell.run("schedule", "t", "--in", "soon")).isEqualTo(2);
    assertThat(shell.err()).contains("in: \"soon\" (expected: a duration such as");
    Files.writeString(folder.resolve("input.json"), "[1, 2]\n");
    String id = shell.ok("schedule", "t", "--input", "@input.json", "--in", "2d");
    assertThat(shell.ok("jobs", "input", id)).isEqualTo("[1, 2]");
    assertThat(shell.input("\"from a pipe\"").ok("schedule", "t", "--input", "-", "--dry-run"))
        .contains("\"input\":\"from a pipe\"");
    shell.ok("jobs", "cancel", id);
  }

  @Test
  void linesAreScheduledInBatchesAndTheWrongOneIsNamed() {
    String lines =
        """
        {"type": "line", "in": "48h", "name": "line/1"}

        {"type": "line", "in": "48h", "name": "line/2"}
        {"type": "line", "in": "48h", "name": "line/3"}
        """;
    assertThat(shell.input(lines).ok("schedule", "--from", "-", "--batch", "2").lines()).hasSize(3);
    assertThat(shell.err()).contains("3 jobs are scheduled");
    assertThat(shell.ok("jobs", "list", "--name-prefix", "line/").lines()).hasSize(3);

    String wrong =
        """
        {"type": "line", "in": "48h", "name": "line/4"}

        {"type": "line", "on": "48h"}
        """;
    assertThat(shell.input(wrong).run("schedule", "--from", "-")).isEqualTo(2);
    assertThat(shell.err())
        .contains("line 3: on: unknown field (expected: one of [type,")
        .contains("nothing is scheduled");
    assertThat(shell.input("{\"type\": \"line\"\n").run("schedule", "--from", "-")).isEqualTo(2);
    assertThat(shell.err()).contains("line 1: ").contains("(expected: a job as JSON)");
    assertThat(shell.ok("jobs", "cancel", "--name-prefix", "line/", "--yes", "--json"))
        .contains("\"done\":3");
  }

  // ---- schedules

  @Test
  void scheduleIsPutShownPausedAndDeleted() {
    String id =
        shell.ok(
            "schedules",
            "put",
            "ops/nightly",
            "report",
            "--cron",
            "30 2 * * *",
            "--zone",
            "Europe/Berlin",
            "--input",
            "{}");
    assertThat(shell.err()).contains("created");
    assertThat(
            shell.ok(
                "schedules",
                "put",
                "ops/nightly",
                "report",
                "--cron",
                "30 2 * * *",
                "--zone",
                "Europe/Berlin",
                "--input",
                "{}"))
        .isEqualTo(id);
    assertThat(shell.err()).contains("is as asked for");
    assertThat(shell.run("schedules", "put", "ops/nightly", "report", "--every", "2h", "--create"))
        .isEqualTo(4);
    assertThat(shell.ok("schedules", "list", "--prefix", "ops/"))
        .startsWith("ops/nightly\tSCHEDULED\t2")
        .contains("\t0\treport\tAt 02:30 every day, Europe/Berlin\t" + id);
    String shown = shell.ok("schedules", "get", "ops/nightly");
    String etag = shown.substring(shown.indexOf("etag") + 4).strip();
    shell.ok("schedules", "put", "ops/nightly", "report", "--every", "2d", "--if-match", etag);
    assertThat(
            shell.run(
                "schedules", "put", "ops/nightly", "report", "--every", "3h", "--if-match", etag))
        .isEqualTo(4);
    assertThat(shell.ok("schedules", "pause", "ops/nightly", "--reason", "audit"))
        .isEqualTo("ops/nightly\tdone");
    assertThat(shell.ok("schedules", "list", "--prefix", "ops/")).contains("\tPAUSED\t");
    shell.ok("schedules", "resume", "ops/nightly");
    assertThat(shell.ok("schedules", "trigger", "ops/nightly")).startsWith("j");
    assertThat(shell.ok("schedules", "delete", "ops/nightly")).startsWith("ops/nightly\t");
    assertThat(shell.run("schedules", "get", "ops/nightly")).isEqualTo(3);
    assertThat(shell.run("schedules", "put", "x", "report")).isEqualTo(2);
  }

  @Test
  void previewNotesClockChanges() {
    assertThat(
            shell.ok(
                "schedules",
                "preview",
                "--cron",
                "30 2 * * *",
                "--zone",
                "Europe/Berlin",
                "--from",
                "2027-03-27T12:00:00Z",
                "--limit",
                "2"))
        .isEqualTo(
            """
            2027-03-28T01:00:00Z\t2027-03-28T03:00:00+02:00\tEurope/Berlin\t02:30 does not exist that day: runs at 03:00
            2027-03-29T00:30:00Z\t2027-03-29T02:30:00+02:00\tEurope/Berlin""");
    assertThat(shell.run("schedules", "preview")).isEqualTo(2);
    assertThat(shell.run("schedules", "preview", "--cron", "61 * * * *")).isEqualTo(2);
  }

  @Test
  void prefixIsDeletedOnlyWhereSomebodyMeansIt() {
    for (String name : List.of("test/a", "test/b/c", "test-1", "tester/a")) {
      shell.ok("schedules", "put", name, "t", "--every", "9h");
    }
    assertThat(shell.ok("schedules", "delete", "--prefix", "test", "--dry-run").lines())
        .containsExactlyInAnyOrder("test/a", "test/b/c");
    assertThat(shell.run("schedules", "delete", "--prefix", "test")).isEqualTo(2);
    assertThat(shell.err()).contains("--prefix: 2 schedules (expected: --yes");
    assertThat(shell.ok("schedules", "delete", "--prefix", "test", "--yes")).isEqualTo("2 deleted");
    assertThat(shell.ok("schedules", "list", "--prefix", "test").lines()).hasSize(2);
    shell.ok("schedules", "delete", "test-1", "tester/a");
  }

  // ---- dead letters, bulk

  @Test
  void deadLettersAreGroupedReplayedAndDiscarded() {
    List<JsonNode> groups = shell.json("dead-letters", "groups", "--json");
    assertThat(groups).hasSize(1);
    assertThat(shell.ok("dead-letters", "groups"))
        .startsWith(groups.getFirst().get("fingerprint").asString() + "\t")
        .contains("\tbroken\t", "NotRetryableException: no relay for ");
    String dead = shell.ok("dead-letters", "list", "--queue", "q1");
    String id = dead.substring(0, dead.indexOf('\t'));
    assertThat(shell.ok("dead-letters", "replay", id, "--input", "\"mended\""))
        .isEqualTo(id + "\tdone");
    assertThat(shell.ok("jobs", "input", id)).isEqualTo("\"mended\"");
    assertThat(shell.ok("dead-letters", "list", "--queue", "q1")).isEmpty();
    String second = shell.ok("dead-letters", "list", "--queue", "q2");
    shell.input(second).ok("dead-letters", "discard", "-");
    assertThat(shell.run("jobs", "get", second.substring(0, second.indexOf('\t')))).isEqualTo(3);

    assertThat(shell.ok("dead-letters", "replay", "--meta", "who=w3", "--dry-run"))
        .startsWith("1 job\nj");
    assertThat(shell.ok("dead-letters", "list", "--queue", "q3")).isNotEmpty();
    shell.ok("dead-letters", "replay", "--meta", "who=w3", "--yes");
    assertThat(shell.ok("dead-letters", "list", "--queue", "q3")).isEmpty();
  }

  @Test
  void manyAreCountedConfirmedAndChangedByTheServer() {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 250; i++) {
      lines.append("{\"type\": \"many\", \"in\": \"48h\"}\n");
    }
    shell.input(lines.toString()).ok("schedule", "--from", "-");
    assertThat(shell.ok("jobs", "pause", "--type", "many", "--dry-run").lines()).hasSize(11);
    assertThat(shell.out()).startsWith("250 jobs\n");
    assertThat(shell.run("jobs", "pause", "--type", "many")).isEqualTo(2);
    assertThat(shell.err())
        .contains("pause 250 jobs: nobody is asked (expected: --yes to do it, --dry-run to look)");
    assertThat(shell.ok("jobs", "list", "--state", "PAUSED", "--type", "many")).isEmpty();

    shell.on(Terminal.screen(100, 30));
    assertThat(shell.input("n\n").run("jobs", "pause", "--type", "many")).isEqualTo(2);
    assertThat(shell.err()).contains("pause 250 jobs on http://", "? [y/N] nothing was done");
    assertThat(shell.input("y\n").ok("jobs", "pause", "--type", "many"))
        .containsPattern("changed +250");
    shell.on(Terminal.pipe());

    String bulk = shell.ok("jobs", "cancel", "--type", "many", "--yes", "--detach");
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> shell.json("bulk", "get", bulk, "--json").getFirst().has("endedAt"));
    assertThat(shell.ok("bulk", "list")).contains(bulk + "\tSUCCEEDED\t");
    assertThat(shell.ok("bulk", "cancel", bulk)).isEqualTo(bulk + "\tended succeeded");
    assertThat(shell.ok("jobs", "list", "--type", "many", "--state", "CANCELLED", "--all").lines())
        .hasSize(250);

    assertThat(shell.run("jobs", "cancel")).isEqualTo(2);
    assertThat(shell.err()).contains("no ids and no conditions (expected: ids, or --type,");
    assertThat(shell.run("jobs", "cancel", bulk, "--type", "many")).isEqualTo(2);
    assertThat(shell.run("jobs", "cancel", bulk, "--dry-run")).isEqualTo(2);
  }

  // ---- workflows

  @Test
  void workflowShowsItsStepsAndTakesSignals() {
    assertThat(shell.ok("workflows", "list")).contains(workflow + "\tWAITING\t");
    assertThat(shell.ok("workflows", "steps", workflow)).startsWith("ask\tDONE\t1\t2");
    assertThat(shell.err()).contains("it is WAITING and waits for the signal approved");
    assertThat(shell.ok("jobs", "published", workflow)).isEqualTo("\"waits for ann\"");
    assertThat(
            shell.ok(
                "workflows", "signal", workflow, "approved", "--payload", "\"yes\"", "--key", "1"))
        .isEqualTo(workflow + "\tdone");
    assertThat(
            shell.ok(
                "workflows", "signal", workflow, "approved", "--payload", "\"yes\"", "--key", "1"))
        .isEqualTo(workflow + "\ttaken_before");
    assertThat(shell.run("workflows", "signal", workflow, "approved", "--key", "é")).isEqualTo(2);
    assertThat(shell.err()).contains("--key: é (expected: ASCII)");
    assertThat(shell.ok("workflows", "terminate", workflow, "--reason", "enough"))
        .startsWith(workflow + "\t");
  }

  // ---- queues, namespace, cluster

  @Test
  void workersAreListed() {
    assertThat(shell.ok("workers", "list")).isEmpty();
    assertThat(shell.ok("workers", "list", "--json")).isEmpty();
  }

  @Test
  void queuesAndNamespacesArePausedAndLimited() {
    for (String[] of : new String[][] {{"queues", "mail"}, {"namespace"}}) {
      List<String> about = List.of(of).subList(1, of.length);
      shell.ok(words(of[0], "pause", about, "--reason", "the relay is down"));
      shell.ok(words(of[0], "limit", about, "3"));
      shell.ok(words(of[0], "rate", about, "100/1h", "--burst", "10"));
      assertThat(shell.ok(words(of[0], "get", about)).replaceAll(" +", " "))
          .startsWith(
              """
              paused yes
              reason the relay is down
              limit 3
              rate 100 in 1h, at once 10
              paused by local
              paused at \
              """)
          .contains("\nchanged by local\n");
      if (of[0].equals("queues")) {
        assertThat(shell.ok("queues", "list"))
            .contains("mail\tpaused\t0\t0\t\t3\t100 in 1h, at once 10\tlocal");
      }
      shell.ok(words(of[0], "resume", about));
      shell.ok(words(of[0], "limit", about, "none"));
      shell.ok(words(of[0], "rate", about, "none"));
      assertThat(shell.ok(words(of[0], "get", about)).replaceAll(" +", " "))
          .startsWith("paused no\nlimit none\nrate none\nchanged by local\nchanged at ");
      assertThat(shell.run(words(of[0], "limit", about, "few"))).isEqualTo(2);
      assertThat(shell.err()).contains("limit: few (expected: a number from 1 on, or none)");
      assertThat(shell.run(words(of[0], "rate", about, "often"))).isEqualTo(2);
    }
  }

  private static String[] words(String group, String verb, List<String> about, String... more) {
    List<String> all = new ArrayList<>(List.of(group, verb));
    all.addAll(about);
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  @Test
  void clusterIsShownByTheServer() {
    assertThat(shell.ok("cluster")).startsWith("local\tTHERE\t");
    assertThat(shell.ok("cluster", "members")).startsWith("local\tTHERE\t");
    assertThat(shell.ok("cluster", "times").lines()).isNotEmpty();
    assertThat(shell.ok("cluster", "shards").lines()).allMatch(line -> line.contains("\tlocal\t"));
    assertThat(shell.ok("cluster", "running")).isEmpty();
    assertThat(shell.run("cluster", "drain", "nobody")).isEqualTo(4);
    assertThat(shell.run("cluster", "move")).isEqualTo(2);
    shell.on(Terminal.screen(80, 24));
    assertThat(shell.ok("cluster", "members"))
        .startsWith("NODE   STATE  HOME  OWNED  STANDS IN  CLOCK");
  }

  @Test
  void ordersToAClusterGoThroughAServer() throws Exception {
    String url = PostgresServer.shared().url() + "&carillon.cluster=orders-by-server";
    try (Carillon member = Carillon.builder().url(url).nodeId("member").daemon(true).open()) {
      member.schedule(StoreOfJobs.BROKEN.job("x").in(Duration.ofDays(2)));
      Shell asks = new Shell(folder);
      assertThat(asks.ok("cluster", "drain", "member", "--store", url)).contains("ordered;");
      assertThat(asks.ok("cluster", url)).containsPattern("drain +member");
      asks.ok("cluster", "undrain", "member", "--store", url);
      String shards = asks.ok("cluster", "shards", "--store", url);
      asks.ok(
          "cluster", "move", shards.substring(0, shards.indexOf('\t')), "member", "--store", url);
      assertThat(asks.ok("cluster", url)).containsPattern("move +member");
    }
  }

  // ---- live

  @Test
  void topFitsAScreenOfEightyByTwentyFour() {
    shell.ok("schedule", "nobody", "--queue", "q9");
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> shell.ok("top", "--count", "2", "--interval", "200ms").contains("no_handler"));
    for (String picture : shell.out().split("\n\ncarillon top", -1)) {
      List<String> lines = picture.lines().toList();
      assertThat(lines).hasSizeBetween(6, 24);
      assertThat(lines).allMatch(line -> line.codePointCount(0, line.length()) <= 80);
    }
    assertThat(shell.out())
        .contains("node local: 0 running of ", "local  THERE ", "nobody")
        .startsWith("carillon top  2");
    assertThat(shell.run("top", "--interval", "1ms")).isEqualTo(2);
    assertThat(shell.err()).contains("--interval: 1ms (expected: at least 200ms)");
    assertThat(shell.run("top", "--json")).isEqualTo(2);
    shell.ok("jobs", "cancel", "--queue", "q9", "--yes");
  }

  @Test
  void watchShowsWhatHappens() throws Exception {
    List<String> command =
        ServerProcess.javaMain(
            "jobs", "watch", "--event", "ended", "--type", "seen", "--count", "1");
    Process watch =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(folder.resolve("watch").toFile())
            .start();
    try (BufferedReader out = watch.inputReader()) {
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> Files.readString(folder.resolve("watch")).contains("watching node local"));
      String id = shell.ok("schedule", "seen", "--in", "2d", "--name", "me");
      shell.ok("jobs", "cancel", id);
      assertThat(out.readLine()).contains("\tended\t" + id + "\tCANCELLED\tseen\tme\tdefault\t");
      assertThat(watch.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(watch.exitValue()).isZero();
    } finally {
      watch.destroyForcibly();
    }
    assertThat(shell.run("jobs", "watch", "--event", "slept")).isEqualTo(2);
  }
}
