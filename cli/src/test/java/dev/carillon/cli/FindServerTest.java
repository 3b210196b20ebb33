package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How commands find their server: options, contexts, environment, the file beside the store. */
@Timeout(300)
class FindServerTest {
  private static final TaskType<String> TASK = TaskType.of("task", String.class);

  @TempDir static Path folder;

  @TempDir private Path elsewhere;

  private static ServerProcess server;
  private static String base;

  @BeforeAll
  static void serve() throws Exception {
    server = ServerProcess.start(folder);
    base = server.base();
    new Shell(folder).ok("schedule", "here", "--in", "1h", "--name", "one");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static void findsIt(Shell shell, String... options) {
    String[] list = new String[options.length + 2];
    list[0] = "jobs";
    list[1] = "list";
    System.arraycopy(options, 0, list, 2, options.length);
    assertThat(shell.ok(list)).contains("\there\tone\t");
  }

  @Test
  void fileBesideTheStoreLeadsToItsServer() {
    findsIt(new Shell(folder));
    findsIt(new Shell(elsewhere), "--store", "jdbc:sqlite:" + folder.resolve("carillon.db"));
  }

  @Test
  void serverIsNamedByOptionOrEnvironment() {
    findsIt(new Shell(elsewhere), "--server", base);
    findsIt(new Shell(elsewhere), "--server", base + "/");
    findsIt(new Shell(elsewhere), "--server", "127.0.0.1:" + URI.create(base).getPort());
    findsIt(new Shell(elsewhere).with("CARILLON_SERVER", base));
  }

  @Test
  void withoutAServerItSaysWhatItLookedFor() {
    Shell shell = new Shell(elsewhere);
    assertThat(shell.run("jobs", "list")).isEqualTo(6);
    assertThat(shell.err()).contains("server: none found (expected: --server URL");
    assertThat(shell.run("jobs", "list", "--server", base, "--context", "x")).isEqualTo(2);
    assertThat(shell.err()).contains("two of them (expected: one)");
    assertThat(shell.run("jobs", "list", "--server", "ftp://x")).isEqualTo(2);
    assertThat(shell.err()).contains("--server: ftp://x (expected: an address such as https://");
    assertThat(shell.run("jobs", "list", "--store", "jdbc:sqlite:" + elsewhere.resolve("no.db")))
        .isEqualTo(2);
    assertThat(shell.err()).contains("expected: an existing file");
    assertThat(elsewhere.resolve("no.db")).doesNotExist();
  }

  @Test
  void contextsNameServersAndTheCurrentOneIsUsed() {
    Shell shell = new Shell(elsewhere);
    shell.ok("context", "set", "local", "--server", base, "--namespace", "empty");
    shell.ok("context", "set", "other", "--server", "http://127.0.0.1:1");
    assertThat(shell.ok("context", "list"))
        .isEqualTo(
            "local\tcurrent\t%s\tempty\tno\nother\t\thttp://127.0.0.1:1\tdefault\tno"
                .formatted(base));
    assertThat(shell.ok("jobs", "list")).isEmpty(); // in its namespace
    findsIt(shell, "--namespace", "default");
    findsIt(shell.with("CARILLON_NAMESPACE", "default"));
    shell.with("CARILLON_NAMESPACE", "");
    shell.ok("context", "use", "other");
    assertThat(shell.run("jobs", "list")).isEqualTo(6);
    assertThat(shell.err()).contains("server: http://127.0.0.1:1 (context other) does not answer");
    assertThat(shell.run("jobs", "list", "--context", "local")).isZero();
    shell.ok("context", "delete", "other");
    assertThat(shell.run("context", "use", "other")).isEqualTo(2);
    assertThat(shell.err()).contains("context: other (expected: one of [local])");
  }

  @Test
  void tokensStayWithTheirOwner() throws Exception {
    Shell shell = new Shell(elsewhere);
    Path file = elsewhere.resolve("contexts.json");
    shell
        .input("crl_id_secret\n")
        .ok("context", "set", "prod", "--server", "https://jobs.example.com", "--token-stdin");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(shell.ok("context", "list")).contains("\tyes").doesNotContain("secret");
    assertThat(shell.ok("context", "list", "--json")).doesNotContain("secret");

    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(shell.run("jobs", "list")).isEqualTo(5);
    assertThat(shell.err())
        .contains("mode rw-r-----, with tokens in it (expected: readable by its owner only;");

    assertThat(shell.input("two words").run("context", "set", "x", "--token-stdin")).isEqualTo(5);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    assertThat(shell.input("two words").run("context", "set", "prod", "--token-stdin"))
        .isEqualTo(2);
    assertThat(shell.err()).contains("token: 9 characters").doesNotContain("two words");
  }

  @Test
  void tokenIsNotSentWhereItCouldBeRead() {
    Shell shell = new Shell(elsewhere).with("CARILLON_TOKEN", "crl_id_secret");
    assertThat(shell.run("jobs", "list", "--server", "http://jobs.example.com")).isEqualTo(2);
    assertThat(shell.err()).contains("expected: https, where nobody reads it on the way");
    assertThat(shell.run("jobs", "list", "--token", "crl_id_secret")).isEqualTo(2);
    assertThat(shell.err()).contains("Unknown option");
  }

  @Test
  void fileOfAKilledServerLeadsNowhere() throws Exception {
    try (ServerProcess killed = ServerProcess.start(elsewhere)) {
      String address = killed.base();
      Shell shell = new Shell(elsewhere);
      assertThat(shell.run("jobs", "list")).isZero();
      killed.kill();
      assertThat(shell.run("jobs", "list")).isEqualTo(6);
      assertThat(shell.err())
          .contains("carillon.db.server: its server, " + address + ", does not run any more");

      // Another server may have its port now: the file must not lead there.
      Path file = elsewhere.resolve("carillon.db.server");
      Files.writeString(file, Files.readString(file).replace(address, base));
      assertThat(shell.run("jobs", "list")).isEqualTo(6);
    }
  }

  @Test
  void storeWithoutAServerIsOpenedByTheCommand() {
    String file = "jdbc:sqlite:" + elsewhere.resolve("jobs.db");
    try (Carillon carillon = Carillon.builder().url(file).daemon(true).open()) {
      carillon.schedule(TASK.job("x").named("later").in(Duration.ofDays(40)));
      Shell shell = new Shell(elsewhere);
      assertThat(shell.run("jobs", "list", "--store", file)).isEqualTo(1);
      assertThat(shell.err()).contains("is in use");
    }
    Shell shell = new Shell(elsewhere);
    String line = shell.ok("jobs", "list", "--store", file);
    assertThat(line).contains("\ttask\tlater\t");
    String id = line.substring(0, line.indexOf('\t'));
    assertThat(shell.ok("jobs", "cancel", id, "--store", file)).isEqualTo(id + "\tcancelled");
  }

  @Test
  void storeOfAClusterIsAskedByAClient() {
    String url = PostgresServer.shared().url() + "&carillon.cluster=command-line-client";
    try (Carillon carillon = Carillon.builder().url(url).nodeId("member").daemon(true).open()) {
      var job = carillon.schedule(TASK.job("x").named("later").in(Duration.ofDays(40)));
      Shell shell = new Shell(elsewhere);
      assertThat(shell.ok("jobs", "list", "--store", url)).contains("\ttask\tlater\t");
      assertThat(shell.ok("jobs", "pause", job.id().value(), "--store", url)).contains("done");
      assertThat(job.info().state()).isEqualTo(dev.carillon.api.JobState.PAUSED);
    }
  }
}
