package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The commands of the pages about the server: those of curl run, one page after the other against a
 * server of its own, and those of {@code ./carillon} are read. What a page calls on the Internet is
 * a receiver of this test.
 */
@Timeout(120)
class ServerGuidesTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern SHELL = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
  private static final Pattern OUTSIDE = Pattern.compile("https://(example\\.com|shop\\.example)");

  /**
   * One that fails where the answer is no success, but for the result of a job that has none; a
   * stream is listened to for a moment.
   */
  private static final String CURL =
      """
      curl() {
        local most=60 rc=0
        if [[ "$*" == *-N* ]]; then most=2; fi
        command curl -sS --fail-with-body --max-time $most "$@" || rc=$?
        [[ $rc == 0 || ($rc == 22 && "$*" == *wait=*) || ($rc == 28 && $most == 2) ]]
      }
      """;

  private static final String ANSWER = "<h1>Example</h1>";

  @TempDir private Path folder;

  private static List<String> blocks(String document) throws IOException {
    List<String> blocks = new ArrayList<>();
    Matcher matcher = SHELL.matcher(Files.readString(ROOT.resolve(document)));
    while (matcher.find()) {
      blocks.add(matcher.group(1));
    }
    return blocks;
  }

  /** Everything that curl printed, where each of its requests was answered with success. */
  private String runCurls(String document) throws Exception {
    HttpServer outside = receiver();
    try (Carillon carillon =
            Carillon.builder()
                .url("jdbc:sqlite:" + folder.resolve("jobs.db"))
                .closeGrace(Duration.ofSeconds(2))
                .open();
        CarillonServer server =
            CarillonServer.start(
                carillon, ServerOptions.standard().port(0).stopGrace(Duration.ofSeconds(2)))) {
      StringBuilder script = new StringBuilder("set -eo pipefail\n");
      script.append(CURL);
      blocks(document).stream().filter(block -> block.contains("curl")).forEach(script::append);
      String text =
          OUTSIDE.matcher(script).replaceAll("http://127.0.0.1:" + outside.getAddress().getPort());
      String id =
          carillon.schedule(TaskType.of("later").job().in(Duration.ofHours(1))).id().value();
      return run(
          text.replace("localhost:8470", "127.0.0.1:" + server.address().getPort())
              .replace("/jobs/ID", "/jobs/" + id));
    } finally {
      outside.stop(0);
    }
  }

  private static HttpServer receiver() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = ANSWER.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "text/html");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return server;
  }

  private String run(String script) throws Exception {
    Path printed = folder.resolve("printed");
    Process process =
        new ProcessBuilder("bash", "-c", script)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    boolean ended = process.waitFor(100, TimeUnit.SECONDS);
    process.destroyForcibly();
    String text = Files.readString(printed);
    assertThat(ended && process.exitValue() == 0).as("%s%nprinted%n%s", script, text).isTrue();
    return text;
  }

  @Test
  void firstMinuteOfTheReadmeShowsADeliveryAndItsHistory() throws Exception {
    assertThat(runCurls("README.md"))
        .contains(ANSWER)
        .contains("\"SCHEDULED\"")
        .contains("\"SUCCEEDED\"");
    assertThat(
            blocks("README.md").stream().filter(block -> block.contains("./carillon")).findFirst())
        .hasValue("./carillon serve\n");
  }

  @Test
  void quickStartRuns() throws Exception {
    assertThat(runCurls("docs/guides/server-quick-start.md"))
        .contains(ANSWER)
        .contains("\"created\":false")
        .contains("\"CANCELLED\"")
        .contains("\"DEAD\"")
        .contains("2:30");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "docs/guides/operating-the-server.md",
        "docs/guides/server.md",
        "docs/guides/worker-any-language.md"
      })
  void pageRuns(String document) throws Exception {
    assertThat(runCurls(document)).contains("{");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "docs/guides/server-quick-start.md",
        "docs/guides/operating-the-server.md",
        "docs/guides/server.md"
      })
  void commandsOfThePageAreKnown(String document) throws Exception {
    List<String> commands =
        blocks(document).stream()
            .flatMap(String::lines)
            .filter(line -> line.startsWith("./carillon "))
            .toList();
    assertThat(commands).isNotEmpty();
    for (String command : commands) {
      String[] words = command.split("\\s+", -1);
      var unused =
          Main.commandLine().parseArgs(Arrays.copyOfRange(words, 1, words.length)); // or it throws
    }
  }
}
