package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code ./carillon token} on a store, and by a server of it. */
class TokenCommandTest {
  private static final String SECRET = "crl_[a-z2-7]{12}_[a-z2-7]{52}";

  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(args);
  }

  private String url() {
    return "jdbc:sqlite:" + folder.resolve("jobs.db");
  }

  private JsonNode json() {
    return new JsonMapper().readTree(out.toString());
  }

  @Test
  void tokensOfAStoreAreMadeListedRotatedAndRevoked() {
    assertThat(
            run(
                "token",
                "create",
                url(),
                "--name",
                "ci",
                "--role",
                "submitter",
                "--namespace",
                "shop",
                "--queue",
                "q",
                "--expires-in",
                "90d"))
        .as(err.toString())
        .isZero();
    assertThat(out.toString().strip()).matches(SECRET);
    assertThat(err.toString())
        .contains("token ci (")
        .contains("submitter of shop, queues q, until");
    String id = out.toString().split("_", -1)[1];

    assertThat(run("token", "list", url())).isZero();
    assertThat(out.toString()).contains(id).contains("until 2").doesNotContain("crl_");
    assertThat(run("token", "list", url(), "--json")).isZero();
    assertThat(json().path("items").get(0).path("createdBy").asString())
        .startsWith("command-line/");

    assertThat(run("token", "rotate", url(), id, "--overlap", "1h", "--json")).isZero();
    assertThat(json().path("secret").asString()).matches(SECRET).contains(id);

    assertThat(run("token", "revoke", url(), id)).isZero();
    assertThat(out.toString()).contains("revoked: token ci");
    assertThat(run("token", "list", url())).isZero();
    assertThat(out.toString()).contains("revoked by command-line/");
    assertThat(run("token", "rotate", url(), id)).isEqualTo(3);
    assertThat(err.toString()).contains(id).contains("expected: the id of one that lives");
  }

  @Test
  void wrongArgumentsAreToldSo() {
    assertThat(run("token")).isEqualTo(2);
    assertThat(run("token", "list", url(), "more")).isEqualTo(2);
    assertThat(err.toString()).contains("expected: the URL of the store, or none for a server");
    assertThat(run("token", "revoke")).isEqualTo(2);
    assertThat(run("token", "create", url(), "--name", "ci")).isEqualTo(2);
    assertThat(run("token", "create", url(), "--name", "ci", "--role", "boss")).isEqualTo(2);
    assertThat(err.toString()).contains("role: boss (expected: worker, viewer");
    assertThat(run("token", "create", url(), "--name", "c i", "--role", "viewer")).isEqualTo(2);
    assertThat(
            run("token", "create", url(), "--name", "ci", "--role", "viewer", "--expires-in", "x"))
        .isEqualTo(2);
    assertThat(run("token", "--help")).isZero();
    assertThat(run("token", "create", "--help")).isZero();
  }

  @Test
  void serverThatHasTheFileOpenIsAsked() throws Exception {
    try (Carillon carillon = Carillon.builder().url(url()).daemon(true).open();
        CarillonServer server = CarillonServer.start(carillon, ServerOptions.standard().port(0))) {
      String base = "http://127.0.0.1:" + server.address().getPort();
      Files.writeString(folder.resolve("jobs.db.server"), base + "\n");
      assertThat(run("token", "create", url(), "--name", "root", "--role", "admin")).isZero();
      assertThat(out.toString().strip()).matches(SECRET);
      assertThat(run("token", "list", "--server", base)).isZero();
      assertThat(out.toString()).contains("root").contains("lives");
    }
  }

  @Test
  void serverThatAsksForATokenIsShownOne() throws Exception {
    assertThat(run("token", "create", url(), "--name", "root", "--role", "admin")).isZero();
    Path file = Files.writeString(folder.resolve("token"), out.toString());
    try (Carillon carillon = Carillon.builder().url(url()).daemon(true).open();
        CarillonServer server =
            CarillonServer.start(
                carillon,
                ServerOptions.standard()
                    .port(0)
                    .access(
                        new ProvenAccess(
                            List.of(
                                new TokenProof(
                                    new Tokens(carillon.node().sharedRecords(Tokens.AREA)))))))) {
      String base = "http://127.0.0.1:" + server.address().getPort() + "/";
      assertThat(run("token", "list", "--server", base)).isEqualTo(5);
      assertThat(err.toString()).contains("Authorization: missing").contains("(401)");
      String[] more = {"--server", base, "--token-file", file.toString()};
      assertThat(run(with(more, "token", "create", "--name", "ci", "--role", "viewer"))).isZero();
      String id = out.toString().split("_", -1)[1];
      assertThat(run(with(more, "token", "rotate", "none"))).isEqualTo(3);
      assertThat(run(with(more, "token", "create", "--name", "c i", "--role", "viewer")))
          .isEqualTo(2);
      assertThat(run(with(more, "token", "rotate", id))).isZero();
      assertThat(run(with(more, "token", "revoke", id))).isZero();
      assertThat(run(with(more, "token", "list"))).isZero();
      assertThat(out.toString()).contains("revoked by root/");
    }
  }

  @Test
  void serverOfTheContextIsAsked() throws Exception {
    assertThat(run("token", "create", url(), "--name", "root", "--role", "admin")).isZero();
    String secret = out.toString().strip();
    try (Carillon carillon = Carillon.builder().url(url()).daemon(true).open();
        CarillonServer server =
            CarillonServer.start(
                carillon,
                ServerOptions.standard()
                    .port(0)
                    .access(
                        new ProvenAccess(
                            List.of(
                                new TokenProof(
                                    new Tokens(carillon.node().sharedRecords(Tokens.AREA)))))))) {
      Shell shell = new Shell(folder);
      assertThat(shell.run("token", "list")).isEqualTo(6);
      assertThat(shell.err()).contains("server: none found");
      shell
          .input(secret + "\n")
          .ok(
              "context",
              "set",
              "prod",
              "--server",
              "http://127.0.0.1:" + server.address().getPort(),
              "--token-stdin");
      assertThat(shell.ok("token", "list")).contains("root");
      shell.ok("token", "create", "--context", "prod", "--name", "ci", "--role", "viewer");
      String id = shell.out().split("_", -1)[1];
      assertThat(shell.ok("token", "revoke", id)).contains(id);
      assertThat(shell.ok("token", "list", "--context", "prod")).contains("revoked by root/");
      assertThat(shell.run("token", "list", "--context", "no")).isEqualTo(2);
      assertThat(shell.run("token", "list", "--context", "prod", "--server", "x")).isEqualTo(2);
      assertThat(shell.run("token", "list", "a", "b")).isEqualTo(2);
    }
  }

  @Test
  void serverThatDoesNotAnswerIsAway() {
    assertThat(run("token", "list", "--server", "http://127.0.0.1:1")).isEqualTo(6);
    assertThat(err.toString()).contains("http://127.0.0.1:1: no answer");
  }

  @Test
  void tokensAreNotSentWhereOthersReadThem() throws Exception {
    Path file = Files.writeString(folder.resolve("token"), "crl_0123_not_a_real_one");
    for (String server : List.of("http://jobs.invalid:8470", "http://192.0.2.1")) {
      assertThat(run("token", "list", "--server", server, "--token-file", file.toString()))
          .isEqualTo(2);
      assertThat(err.toString()).contains("expected: https, where nobody reads it on the way");
    }
    assertThat(run("token", "list", "--server", "ftp://jobs.invalid")).isEqualTo(2);
  }

  private static String[] with(String[] more, String... first) {
    return java.util.stream.Stream.concat(
            java.util.Arrays.stream(first), java.util.Arrays.stream(more))
        .toArray(String[]::new);
  }
}
