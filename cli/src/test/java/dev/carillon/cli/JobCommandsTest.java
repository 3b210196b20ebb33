package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.cli.text.Terminal;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./carillon jobs} against a server in a process of its own. */
@Timeout(300)
class JobCommandsTest {
  private static final JobType<String, Integer> LENGTH =
      JobType.of("length", String.class, Integer.class);
  private static final TaskType<byte[]> BYTES = TaskType.of("bytes", byte[].class);

  @TempDir static Path folder;

  private static ServerProcess server;
  private static String done;
  private static String dead;

  private final Shell shell = new Shell(folder);

  @BeforeAll
  static void serve() throws Exception {
    String url = "jdbc:sqlite:" + folder.resolve("carillon.db");
    try (Carillon carillon = Carillon.builder().url(url).daemon(true).open()) {
      carillon.handle(LENGTH, (word, job) -> word.length());
      carillon.handle(
          BYTES,
          (bytes, job) -> {
            throw new NotRetryableException("no\u001b[2J bytes");
          });
      var first = carillon.schedule(LENGTH.job("four"));
      first.result(Duration.ofSeconds(20));
      done = first.id().value();
      var second = carillon.schedule(BYTES.job(new byte[] {7, (byte) 200}).meta("who", "me"));
      Awaitility.await().until(() -> second.info().state() == JobState.DEAD);
      dead = second.id().value();
    }
    server = ServerProcess.start(folder);
    assertThat(server.base()).isNotEmpty();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private String later(String name) {
    return shell.ok("schedule", "t", "--in", "40d", "--name", name).strip();
  }

  @Test
  void listShowsWhatFits() {
    assertThat(shell.ok("jobs", "list", "--state", "succeeded"))
        .startsWith(done + "\tSUCCEEDED\t2")
        .contains("\tlength\t\tdefault\t1");
    assertThat(shell.json("jobs", "list", "--meta", "who=me", "--json"))
        .singleElement()
        .satisfies(job -> assertThat(job.get("id").asString()).isEqualTo(dead));
    assertThat(shell.ok("jobs", "list", "--type", "none")).isEmpty();
    assertThat(shell.err()).isEmpty();
    assertThat(shell.ok("jobs", "list", "--newest", "--limit", "1", "-s", "DEAD,SUCCEEDED"))
        .startsWith(dead);
    assertThat(shell.err()).contains("there are more; --limit");
    assertThat(shell.ok("jobs", "list", "--ended-from=-1h", "--state", "DEAD,SUCCEEDED").lines())
        .hasSize(2);
    assertThat(shell.ok("jobs", "list", "--ended-to=-1h")).isEmpty();
    assertThat(shell.run("jobs", "list", "--state", "LOST")).isEqualTo(2);
    assertThat(shell.err()).contains("state: \"LOST\" (expected: one of [SCHEDULED,");
    assertThat(shell.run("jobs", "list", "--due-from", "yesterday")).isEqualTo(2);
    assertThat(shell.err()).contains("--due-from: yesterday (expected: a time such as");
    assertThat(shell.run("jobs", "list", "--limit", "0")).isEqualTo(2);
  }

  @Test
  void screenOfEightyColumnsHasTheWholeIdAndWords() {
    shell.on(Terminal.screen(80, 24));
    String list = shell.ok("jobs", "list", "--state", "DEAD");
    assertThat(list.lines())
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80))
        .first()
        .asString()
        .startsWith("ID ");
    assertThat(list)
        .contains(dead + "  DEAD ")
        .containsPattern("( ago|now) +bytes ")
        .doesNotContain("\u001b");
    assertThat(shell.ok("jobs", "list", "--state", "DEAD", "--exact")).contains("  DEAD   202");
    assertThat(shell.ok("jobs", "list", "--type", "none")).isEmpty();
    assertThat(shell.err()).contains("no jobs");
  }

  @Test
  void jobIsShownWithItsHistoryInputAndResult() {
    assertThat(shell.ok("jobs", "get", done))
        .contains("state      SUCCEEDED")
        .containsPattern("ended {6}(now|.* ago) \\(202");
    assertThat(shell.ok("jobs", "get", dead))
        .contains("meta.who   me", "error      NotRetryableException: no?[2J bytes");
    assertThat(shell.json("jobs", "get", dead, "--json"))
        .singleElement()
        .satisfies(job -> assertThat(job.get("state").asString()).isEqualTo("DEAD"));
    assertThat(shell.ok("jobs", "history", done))
        .containsPattern("Z\tSCHEDULED\t")
        .containsPattern("Z\tSUCCEEDED\t1\t\\d");
    assertThat(shell.ok("jobs", "input", done)).isEqualTo("\"four\"");
    assertThat(shell.ok("jobs", "result", done)).isEqualTo("4");
    assertThat(shell.run("jobs", "input", dead)).isZero();
    assertThat(shell.bytes()).containsExactly(7, 200);
    shell.on(Terminal.screen(80, 24));
    assertThat(shell.run("jobs", "input", dead)).isEqualTo(1);
    assertThat(shell.err()).contains("2 bytes by the codec bytes (expected: a file or a pipe");
  }

  @Test
  void jobIsFoundByItsNameAndByItsKey() {
    String named = later("by/name");
    assertThat(shell.ok("jobs", "get", "--name", "by/name")).contains(named);
    String keyed = shell.ok("schedule", "t", "--in", "40d", "--key", "k 1").strip();
    assertThat(shell.ok("jobs", "get", "--key", "k 1")).contains(keyed);
    assertThat(shell.run("jobs", "get", "--key", "other")).isEqualTo(3);
    assertThat(shell.run("jobs", "get")).isEqualTo(2);
    assertThat(shell.err()).contains("get: 0 of ID, --name and --key (expected: one)");
    assertThat(shell.run("jobs", "get", named, "--name", "by/name")).isEqualTo(2);
  }

  @Test
  void exitCodesTellHowItEnded() {
    assertThat(shell.run("jobs", "get", "nonsense")).isEqualTo(3);
    assertThat(shell.run("jobs", "result", dead)).isEqualTo(9);
    String waiting = later("waits");
    assertThat(shell.run("jobs", "result", waiting)).isEqualTo(8);
    assertThat(shell.run("jobs", "result", waiting, "--wait", "200ms")).isEqualTo(8);
    assertThat(shell.err()).contains("the job has not ended: SCHEDULED");
    assertThat(shell.run("jobs", "result", waiting, "--wait", "soon")).isEqualTo(2);
    assertThat(shell.run("jobs", "pause", done)).isEqualTo(4);
    assertThat(shell.run("jobs")).isEqualTo(2);
    assertThat(shell.err()).contains("a command is missing (expected: one of list, get,");
  }

  @Test
  void jobsAreChangedOneByOneOrFromAPipe() {
    String first = later("first");
    String second = later("second");
    assertThat(shell.ok("jobs", "pause", first, second, "--reason", "a storm"))
        .isEqualTo(first + "\tdone\n" + second + "\tdone");
    String paused = shell.ok("jobs", "list", "--state", "PAUSED");
    assertThat(paused.lines()).hasSize(2);
    assertThat(shell.ok("jobs", "history", first)).contains("PAUSED").contains("a storm");
    assertThat(shell.input(paused).ok("jobs", "resume", "-").lines()).hasSize(2);
    assertThat(shell.ok("jobs", "list", "--state", "PAUSED")).isEmpty();

    assertThat(shell.run("jobs", "cancel", first, "nonsense", second)).isEqualTo(3);
    assertThat(shell.out()).isEqualTo(first + "\tcancelled\n" + second + "\tcancelled\n");
    assertThat(shell.err()).contains("carillon: nonsense: there is no such job");
    assertThat(shell.ok("jobs", "cancel", first)).isEqualTo(first + "\tended cancelled");
    assertThat(shell.json("jobs", "cancel", first, "--json"))
        .singleElement()
        .satisfies(line -> assertThat(line.get("outcome").asString()).isEqualTo("CANCELLED"));
  }

  @Test
  void jobsMoveToAnotherTimeAndPriority() {
    String id = later("moves");
    shell.ok("jobs", "reschedule", id, "--in", "50d");
    assertThat(shell.ok("jobs", "get", id)).contains("due        in 49d");
    assertThat(shell.run("jobs", "reschedule", id)).isEqualTo(2);
    assertThat(shell.err()).contains("no time, or two (expected: --at, --in or a schedule)");
    shell.ok("jobs", "prioritise", id, "--priority", "7");
    assertThat(shell.ok("jobs", "get", id)).contains("priority   7");
    assertThat(shell.run("jobs", "prioritise", id, "--priority", "700")).isEqualTo(2);
    assertThat(shell.ok("jobs", "upcoming", "--from", "49d", "--to", "51d")).contains(id);
    assertThat(shell.ok("jobs", "upcoming", "--to", "1s")).isEmpty();
    shell.ok("jobs", "cancel", id);
  }

  @Test
  void recurringJobsOccurOnRequest() {
    String id =
        shell.ok("schedule", "r", "--cron", "0 3 * * *", "--name", "nightly", "--overlap", "allow");
    String extra = shell.ok("jobs", "trigger", id);
    assertThat(shell.ok("jobs", "get", extra)).contains("occurrence ").contains(" of " + id);
    assertThat(shell.ok("jobs", "backfill", id, "--from=-72h", "--to=-1s").lines()).hasSize(3);
    shell.ok("jobs", "reschedule", id, "--every", "2h");
    assertThat(shell.ok("jobs", "get", id)).contains("recurs     ").contains("2 hours");
    shell.ok("jobs", "cancel", id);
  }

  @Test
  void nothingRunsHere() {
    assertThat(shell.ok("jobs", "running")).isEmpty();
    assertThat(shell.err()).contains("nothing runs");
    assertThat(shell.run("jobs", "running", "--limit", "0")).isEqualTo(2);
  }
}
