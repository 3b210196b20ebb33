package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.ShardId;
import dev.carillon.store.jdbc.SqliteStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(60)
class MainTest {
  private static final JobType<List<String>, Integer> COUNT =
      JobType.of("count", new TypeToken<List<String>>() {}, TypeToken.of(Integer.class));
  private static final TaskType<byte[]> BYTES = TaskType.of("bytes", byte[].class);

  private static final Duration ORDERED_WITHIN = Duration.ofMinutes(1);

  @TempDir static Path folder;

  private static String url;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeAll
  static void fillAStore() {
    url = "jdbc:sqlite:" + folder.resolve("jobs.db");
    try (Carillon carillon = Carillon.builder().url(url).daemon(true).open()) {
      carillon.handle(COUNT, (words, job) -> words.size());
      carillon.handle(
          BYTES,
          (bytes, job) -> {
            throw new NotRetryableException("no\nbytes");
          });
      carillon.schedule(COUNT.job(List.of("a", "b"))).result(Duration.ofSeconds(20));
      var dead = carillon.schedule(BYTES.job(new byte[] {7}).meta("who", "me"));
      Awaitility.await().until(() -> dead.info().state() == JobState.DEAD);
      carillon.schedule(COUNT.job(List.of()).named("later").queue("slow").in(Duration.ofDays(40)));
    }
  }

  @Test
  void historyTellsEachStepOfAWorkflow() {
    String file = "jdbc:sqlite:" + folder.resolve("workflow.db");
    String id;
    try (Carillon carillon = Carillon.builder().url(file).daemon(true).open()) {
      carillon.workflow(COUNT, (words, wf) -> wf.step("add up", Integer.class, words::size));
      var job = carillon.schedule(COUNT.job(List.of("a")));
      id = job.id().value();
      assertThat(job.result(Duration.ofSeconds(20))).isEqualTo(1);
    }

    assertThat(run("history", file, id)).isZero();
    assertThat(out.toString()).contains("count SUCCEEDED", "STEP_DONE", "add up");
    assertThat(run("query", file, "select step, outcome from steps")).isZero();
    assertThat(out.toString()).contains("add up  STEP_DONE");
  }

  @Test
  void historyOfAJobThatIsNotThereSaysSo() {
    assertThat(run("history", url, "nonsense")).isEqualTo(2);
    assertThat(err.toString()).contains("id: nonsense (expected: the id of a job)");
  }

  private int run(String... args) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(args);
  }

  @Test
  void exportWritesEveryJobAsALineOfJson() {
    assertThat(run("export", url)).isZero();

    List<JsonNode> jobs = out.toString().lines().map(new JsonMapper()::readTree).toList();
    assertThat(jobs).hasSize(3);
    JsonNode done = find(jobs, "state", "SUCCEEDED");
    assertThat(done.get("type").asString()).isEqualTo("count");
    assertThat(done.get("payload").toString()).isEqualTo("[\"a\",\"b\"]");
    assertThat(done.get("result").asInt()).isEqualTo(2);
    assertThat(done.get("events")).hasSize(2);
    JsonNode dead = find(jobs, "state", "DEAD");
    assertThat(dead.get("metadata").get("who").asString()).isEqualTo("me");
    assertThat(dead.get("payload").get("base64").asString()).isNotEmpty();
    assertThat(dead.get("lastError").get("message").asString()).isEqualTo("no\nbytes");
    JsonNode later = find(jobs, "state", "SCHEDULED");
    assertThat(later.get("name").asString()).isEqualTo("later");
  }

  private static JsonNode find(List<JsonNode> jobs, String field, String value) {
    return jobs.stream()
        .filter(job -> job.get(field).asString().equals(value))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void everyCommandReadsPostgresAsItReadsAFile() {
    String postgres = PostgresServer.shared().url() + "&carillon.cluster=command-line";
    assertThat(run("export", postgres)).isEqualTo(1);
    assertThat(err.toString()).contains("schema carillon, cluster command-line");
    try (Carillon carillon = Carillon.builder().url(postgres).daemon(true).open()) {
      carillon.schedule(COUNT.job(List.of()).named("later").in(Duration.ofDays(40)));
      assertThat(run("cluster", postgres, "--shards", "--times", "--json")).isZero();
      assertThat(out.toString().lines())
          .anySatisfy(line -> assertThat(line).contains("\"state\":\"there\"", "\"owned\":1"))
          .anySatisfy(
              line ->
                  assertThat(line)
                      .contains("\"kind\":\"slice\"", "\"shards\":1", "\"uncounted\":1"))
          .anySatisfy(line -> assertThat(line).contains("\"kind\":\"shard\"", "\"owner\":"));
      out.getBuffer().setLength(0);
      assertThat(run("export", postgres)).isZero();
    }
    assertThat(out.toString().lines()).singleElement().asString().contains("later");
    assertThat(run("query", postgres, "select name, state from jobs")).isZero();
    assertThat(out.toString()).contains("SCHEDULED");
  }

  @Test
  void upgradeShowsTheFormatOfAllAndIsFinished() {
    String file = "jdbc:sqlite:" + folder.resolve("upgraded.db");
    Carillon.builder().url(file).daemon(true).open().close();
    assertThat(run("cluster", "upgrade", file)).isZero();
    assertThat(out.toString()).contains("format of all: 1");
    assertThat(run("cluster", "upgrade", file, "--finish")).isZero();
    assertThat(out.toString()).contains("format of all: 1, the newest that they read");
    String postgres = PostgresServer.shared().url() + "&carillon.cluster=upgrade";
    try (Carillon carillon =
        Carillon.builder().url(postgres).nodeId("reader").daemon(true).open()) {
      carillon.schedule(COUNT.job(List.of()).in(Duration.ofDays(40)));
      assertThat(run("cluster", "upgrade", postgres)).isZero();
    }
    assertThat(out.toString()).containsPattern("reader +1 +there");
  }

  @Test
  void shardsGoWhereOperatorsWantThem() {
    String postgres = PostgresServer.shared().url() + "&carillon.cluster=orders";
    try (Carillon a = Carillon.builder().url(postgres).nodeId("a").daemon(true).open();
        Carillon b = Carillon.builder().url(postgres).nodeId("b").daemon(true).open()) {
      a.schedule(COUNT.job(List.of()).in(Duration.ofSeconds(50)));
      assertThat(a.node().stats().shards()).isEqualTo(1);
      assertThat(run("cluster", "drain", postgres, "a")).isZero();
      Awaitility.await().atMost(ORDERED_WITHIN).until(() -> b.node().stats().shards() == 1);
      assertThat(run("cluster", postgres)).isZero();
      assertThat(out.toString()).containsPattern("drain +a");
      assertThat(run("cluster", "undrain", postgres, "a")).isZero();
      Awaitility.await().atMost(ORDERED_WITHIN).until(() -> a.node().stats().shards() == 1);
      assertThat(run("cluster", postgres, "--shards", "--json")).isZero();
      Matcher shard = Pattern.compile("\"shard\":\"([^\"]+)\"").matcher(out.toString());
      assertThat(shard.find()).isTrue();
      assertThat(run("cluster", "move", postgres, shard.group(1), "b")).isZero();
      out.getBuffer().setLength(0);
      assertThat(run("cluster", postgres, "--json")).isZero();
      assertThat(out.toString().lines().filter(line -> line.contains("\"kind\":\"order\"")))
          .singleElement()
          .asString()
          .contains("\"order\":\"move\"", "\"node\":\"b\"", shard.group(1));
      Awaitility.await().atMost(ORDERED_WITHIN).until(() -> b.node().stats().shards() == 1);
      assertThat(run("cluster", "move", postgres, shard.group(1))).isZero();
      Awaitility.await().atMost(ORDERED_WITHIN).until(() -> a.node().stats().shards() == 1);
    }
    assertThat(run("cluster", "move", postgres, "that one", "b")).isNotZero();
    assertThat(err.toString()).contains("that one");
    assertThat(run("cluster", "move", postgres, new ShardId(1, 1, 1).toString(), "b")).isNotZero();
    assertThat(err.toString()).contains("one that cluster --shards shows");
    assertThat(run("cluster", "drain", postgres, "aa")).isNotZero();
    assertThat(err.toString()).contains("node: aa (expected: one that is there", "[a, b]");
    assertThat(run("cluster", "undrain", postgres, "aa")).isZero();
  }

  @Test
  void commandWithoutAStoreIsMisused() {
    assertThat(run("export")).isEqualTo(2);
    assertThat(err.toString()).contains("'URL'");
  }

  @Test
  void exportWritesToAFile() throws IOException {
    Path file = folder.resolve("jobs.jsonl");
    assertThat(run("export", url, "--output", file.toString())).isZero();
    assertThat(Files.readAllLines(file)).hasSize(3);
    assertThat(err.toString()).contains("3 jobs");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-wal", "-shm", "-lock", "-reserve"})
  void exportDoesNotWriteOverTheStoreItReads(String ending) throws IOException {
    Path store = SqliteStore.fileOf(url);
    Path own = store.resolveSibling(store.getFileName() + ending);
    boolean there = Files.exists(own);
    byte[] before = there ? Files.readAllBytes(own) : new byte[0];
    Path link = Files.createSymbolicLink(folder.resolve("way" + ending), folder);
    String way = link.resolve(own.getFileName()).toString();
    assertThat(run("export", url, "-o", way)).isNotZero();
    assertThat(err.toString()).contains("output: " + way);
    assertThat(Files.exists(own)).isEqualTo(there);
    if (there) {
      assertThat(own).hasBinaryContent(before);
    }
  }

  @Test
  void exportReplacesAFileOnlyWhenAllIsWritten() throws IOException {
    Path exports = Files.createDirectory(folder.resolve("exports"));
    Path file = Files.writeString(exports.resolve("jobs.jsonl"), "yesterday's");
    String none = "jdbc:sqlite:" + folder.resolve("none.db");

    assertThat(run("export", none, "-o", file.toString())).isEqualTo(1);
    assertThat(file).hasContent("yesterday's");
    assertThat(exports).isDirectoryNotContaining("glob:**.part");

    assertThat(run("export", url, "-o", file.toString())).isZero();
    assertThat(Files.readAllLines(file)).hasSize(3);
    try (Stream<Path> left = Files.list(exports)) {
      assertThat(left).containsExactly(file);
    }
  }

  @Test
  void exportFollowsALinkAndTakesNoFoldersPlace() throws IOException {
    Path file = Files.writeString(folder.resolve("linked.jsonl"), "yesterday's");
    Path link = Files.createSymbolicLink(folder.resolve("link.jsonl"), file);
    assertThat(run("export", url, "-o", link.toString())).isZero();
    assertThat(link).isSymbolicLink();
    assertThat(Files.readAllLines(file)).hasSize(3);

    Path empty = Files.createDirectory(folder.resolve("a-folder"));
    assertThat(run("export", url, "-o", empty.toString())).isEqualTo(1);
    assertThat(empty).isEmptyDirectory();
  }

  @Test
  void exportWorksWhileANodeRuns() {
    try (Carillon carillon = Carillon.builder().url(url).daemon(true).open()) {
      assertThat(run("export", url)).isZero();
      assertThat(carillon.node().health().ready()).isTrue();
    }
    assertThat(out.toString().lines()).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "update entries set data = zeroblob(length(data)) where segment = (select segment from"
            + " heads order by shard limit 1)",
        "update heads set wake = wake + 1 where shard = (select min(shard) from heads)"
      })
  void damagedShardIsNamedAndTheOthersAreRead(String damage) throws IOException, SQLException {
    Path file = Files.createTempDirectory(folder, "damaged").resolve("jobs.db");
    String damaged = "jdbc:sqlite:" + file;
    try (Carillon carillon = Carillon.builder().url(damaged).daemon(true).open()) {
      for (int days : List.of(40, 400, 800)) {
        carillon.schedule(COUNT.job(List.of()).named("in" + days).in(Duration.ofDays(days)));
      }
    }
    String shard;
    try (Connection connection = DriverManager.getConnection(damaged);
        Statement statement = connection.createStatement()) {
      try (ResultSet first = statement.executeQuery("select min(shard), count(*) from heads")) {
        shard = first.getString(1);
        assertThat(first.getInt(2)).isEqualTo(3);
      }
      statement.execute(damage);
    }

    assertThat(run("export", damaged)).isEqualTo(1);
    assertThat(out.toString().lines().map(new JsonMapper()::readTree))
        .extracting(job -> job.get("name").asString())
        .containsExactly("in400", "in800");
    assertThat(err.toString())
        .startsWith("carillon: shard " + shard + " is left out: damaged at ")
        .contains("carillon: 1 of 3 shards could not be read")
        .doesNotContain("\tat ");

    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    assertThat(run("query", damaged, "select name from jobs order by 1")).isEqualTo(1);
    assertThat(out.toString().lines().toList())
        .containsExactly("name", "-----", "in400", "in800", "2 rows");
    assertThat(err.toString())
        .contains("shard " + shard)
        .contains("1 of 3 shards could not be read");
  }

  @Test
  void queryPrintsATable() {
    assertThat(run("query", url, "select type, state, count(*) from jobs group by 1, 2")).isZero();

    assertThat(out.toString().lines().toList())
        .containsExactly(
            "type   state      count(*)",
            "-----  ---------  --------",
            "bytes  DEAD              1",
            "count  SCHEDULED         1",
            "count  SUCCEEDED         1",
            "3 rows");
  }

  @Test
  void queryPrintsJson() {
    assertThat(
            run(
                "query",
                url,
                "select j.queue, a.outcome, a.error_message, j.reason as why from attempts a"
                    + " join jobs j on j.id = a.job_id where a.error_type is not null",
                "--json"))
        .isZero();
    assertThat(out.toString().strip())
        .isEqualTo(
            "{\"queue\":\"default\",\"outcome\":\"DEAD\",\"error_message\":\"no\\nbytes\","
                + "\"why\":\"not retryable\"}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"delete from jobs", "select nothing from jobs", "nonsense"})
  void queryRefusesWhatIsNoSelect(String sql) {
    assertThat(run("query", url, sql)).isEqualTo(2);
    assertThat(err.toString()).startsWith("carillon: SQL: ").doesNotContain("\tat ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " -- nothing",
        ";",
        "select 1; select 2",
        "select ';' /* ; */; -- ;\n drop table jobs",
        "pragma query_only = off",
        "select_all",
        "/* select */ vacuum into 'x.db'"
      })
  void queryTakesOneStatementThatAsks(String sql) {
    assertThat(run("query", url, sql)).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("carillon: SQL: ")
        .contains("(expected: one statement that starts with select,");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void queryAttachesNothing() {
    Path other = folder.resolve("attached.db");
    assertThat(run("query", url, "attach database '" + other + "' as x")).isEqualTo(2);
    assertThat(other).doesNotExist();
    assertThat(err.toString()).contains("(expected: one statement");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select count(*) from jobs;",
        "  -- how many;\n SELECT count(*) FROM jobs ; ; -- all",
        "with j as (select * from jobs) select count(*) from j",
        "values (3)",
        "select 3 as \"a;b\", 'it''s; fine' as [c;d], `e;f` from (select 1 as `e;f`)"
      })
  void queryTakesWhateverAsks(String sql) {
    assertThat(run("query", url, sql)).as(err.toString()).isZero();
    assertThat(out.toString()).contains("3").contains("1 row");
  }

  @Test
  void fileErrorsSayWhatWasExpected() throws IOException {
    Path file = Files.writeString(folder.resolve("text.txt"), "text");
    assertThat(run("demo", "--dir", file.toString())).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("carillon: " + file + ": ")
        .contains("expected: a folder");

    err.getBuffer().setLength(0);
    Path lost = folder.resolve("nope").resolve("y");
    assertThat(run("export", url, "-o", lost.toString())).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("carillon: " + lost + ": not found (expected: a file in an existing folder)");
    assertThat(Problem.text(new NotDirectoryException("d")))
        .isEqualTo("d: not a folder (expected: a folder)");
    assertThat(Problem.text(new AccessDeniedException("d"))).startsWith("d: access denied");
    assertThat(Problem.text(new FileSystemException("d", null, "odd"))).isEqualTo("d: odd");
  }

  @Test
  void scriptListsEveryCommand() throws IOException {
    String script = Files.readString(Path.of("..", "carillon"));
    assertThat(Main.commandLine().getSubcommands().keySet())
        .isNotEmpty()
        .allSatisfy(command -> assertThat(script).containsPattern("(?m)^  " + command + "\\b"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"export", "query", "nothing", "export --nothing", "export x", "demo --seconds 0"})
  void wrongUsageSaysWhatIsRight(String line) {
    assertThat(run(line.split(" "))).isEqualTo(2);
    assertThat(err.toString()).startsWith("carillon: ").doesNotContain("\tat ");
    assertThat(err.toString().lines().count()).isLessThan(40);
  }

  @Test
  void storeThatIsNotThereIsAnError() {
    assertThat(run("export", "jdbc:sqlite:" + folder.resolve("none.db"))).isEqualTo(1);
    assertThat(err.toString()).contains("none.db").contains("existing").doesNotContain("\tat ");
    assertThat(run("export", "--debug", "jdbc:sqlite:" + folder.resolve("none.db"))).isEqualTo(1);
    assertThat(err.toString()).contains("\tat ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--help", "demo --help", "export --help", "query --help", "help query"})
  void helpIsEverywhere(String line) {
    assertThat(run(line.split(" "))).isZero();
    assertThat(out.toString()).contains("Usage: carillon");
    assertThat(out.toString().lines()).allMatch(text -> text.length() <= 80);
  }

  @Test
  void demoRingsAndKeepsItsLedgerAndCanBeResumed() {
    String dir = folder.resolve("demo").toString();
    assertThat(run("demo", "--dir", dir, "--seconds", "2")).isZero();
    assertThat(out.toString())
        .contains("bell 1 ")
        .contains("failed: the rope slipped")
        .contains("wrong bell     cancelled: Cancelled")
        .contains("lost                          0")
        .contains("--resume --dir " + dir);

    out.getBuffer().setLength(0);
    assertThat(run("demo", "--dir", dir, "--resume", "--seconds", "20")).isZero();
    assertThat(out.toString())
        .contains("Found from the last process: 14 scheduled")
        .contains("pending                       0")
        .contains("Left by the last process and finished now: ")
        .contains("slipping bell");
  }

  @Test
  void demoAfterABuildSaysHowLongTheFirstBellTook() {
    long command = Instant.now().minusSeconds(100).getEpochSecond();
    System.setProperty(DemoWorld.COMMAND_START, Long.toString(command));
    try {
      assertThat(run("demo", "--dir", folder.resolve("timed").toString(), "--seconds", "2"))
          .isZero();
    } finally {
      System.clearProperty(DemoWorld.COMMAND_START);
    }
    assertThat(out.toString())
        .containsOnlyOnce("from the command to the first bell: 1")
        .containsPattern("first bell: 1\\d\\d s, with the build");
  }

  @Test
  void demoSaysWhatItCannotResume() {
    assertThat(run("demo", "--dir", folder.resolve("empty").toString(), "--resume")).isEqualTo(1);
    assertThat(err.toString()).contains("nothing to resume");
  }
}
