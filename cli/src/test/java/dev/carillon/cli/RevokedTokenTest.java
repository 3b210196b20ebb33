package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A token that is revoked at one server while it is used at two, each a process. */
@Timeout(180)
class RevokedTokenTest {
  private static final Duration PROMISED = Duration.ofSeconds(5);
  private static final Duration WATCHED = Duration.ofSeconds(8);
  private static final String JOBS = "/v1/namespaces/default/jobs?limit=1";
  private static final String EVENTS = "/v1/namespaces/default/events";

  @TempDir private Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private final String url = PostgresServer.shared().url() + "&carillon.cluster=revoked-token";

  @Test
  void revokedTokenIsRefusedByEveryServerWithinFiveSeconds() throws Exception {
    String admin = token("admin");
    String used = token("viewer");
    Path one = Files.createDirectory(folder.resolve("one"));
    Path two = Files.createDirectory(folder.resolve("two"));
    try (ServerProcess asked = ServerProcess.start(one, url);
        ServerProcess other = ServerProcess.start(two, url)) {
      List<String> bases = List.of(asked.base(), other.base());
      for (String base : bases) {
        awaitLetIn(base, used);
      }
      CompletableFuture<Long> streamEnded = listen(bases.getLast(), used);

      long begun = System.nanoTime();
      String id = used.split("_", -1)[1];
      assertThat(revoke(bases.getFirst(), id, admin)).isEqualTo(200);
      long revoked = System.nanoTime();

      long[] lastLetIn = {begun, begun};
      int letInLate = 0;
      while (System.nanoTime() - revoked < WATCHED.toNanos()) {
        for (int i = 0; i < bases.size(); i++) {
          long asks = System.nanoTime();
          int status = get(bases.get(i), JOBS, used);
          assertThat(status).isIn(200, 401, 503); // 503: its last look at the tokens is too old
          if (status == 200) {
            lastLetIn[i] = asks;
            letInLate += asks - revoked > PROMISED.toNanos() ? 1 : 0;
          }
        }
      }
      long streamed = streamEnded.get(60, TimeUnit.SECONDS) - begun;
      System.out.printf(
          "revoked token: last let in %d ms after the request by the server that was asked, %d ms"
              + " by the other one; an open stream of that ended after %d ms%n",
          millis(lastLetIn[0] - begun), millis(lastLetIn[1] - begun), millis(streamed));
      assertThat(letInLate).as("let in more than %s after it was revoked", PROMISED).isZero();
      for (String base : bases) {
        awaitLetIn(base, admin);
      }
    } finally {
      http.close();
    }
  }

  /** A server whose last look at the tokens is too old lets nobody in for a moment. */
  private void awaitLetIn(String base, String token) throws Exception {
    int status = get(base, JOBS, token);
    while (status == 503) {
      status = get(base, JOBS, token);
    }
    assertThat(status).as(base).isEqualTo(200);
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  private String token(String role) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    int code =
        commandLine.execute(
            "token", "create", url, "--name", role, "--role", role, "--namespace", "*");
    assertThat(code).as(err.toString()).isZero();
    return out.toString().strip();
  }

  private HttpRequest.Builder request(String base, String path, String token) {
    return HttpRequest.newBuilder(URI.create(base + path))
        .timeout(Duration.ofSeconds(40))
        .header("Authorization", "Bearer " + token);
  }

  private int get(String base, String path, String token) throws Exception {
    return http.send(request(base, path, token).build(), BodyHandlers.discarding()).statusCode();
  }

  private int revoke(String base, String id, String token) throws Exception {
    HttpRequest request =
        request(base, "/v1/tokens/" + id + "/revoke", token)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{}"))
            .build();
    return http.send(request, BodyHandlers.discarding()).statusCode();
  }

  /** When a stream of events ended that was open before. */
  private CompletableFuture<Long> listen(String base, String token) throws Exception {
    HttpResponse<InputStream> events =
        http.send(request(base, EVENTS, token).build(), BodyHandlers.ofInputStream());
    assertThat(events.statusCode()).isEqualTo(200);
    CompletableFuture<Long> ended = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try (InputStream in = events.body()) {
                var unused = in.transferTo(OutputStream.nullOutputStream());
              } catch (IOException e) {
                // cut off: over all the same
              }
              ended.complete(System.nanoTime());
            });
    return ended;
  }
}
