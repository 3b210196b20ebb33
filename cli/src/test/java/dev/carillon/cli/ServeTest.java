package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./carillon serve} as a process of its own. */
class ServeTest {
  @TempDir private Path folder;

  @Test
  void servesAFileAndGoesOnAfterAKillAndStopsInOrder() throws Exception {
    String id;
    long started = System.nanoTime();
    try (ServerProcess first = ServerProcess.start(folder);
        HttpClient client = HttpClient.newHttpClient()) {
      String base = first.base();
      assertThat(send(client, base, "/health/ready", null).statusCode()).isEqualTo(200);
      System.out.printf(
          "serve: ready %d ms after its process was started, on a new file%n",
          Duration.ofNanos(System.nanoTime() - started).toMillis());
      HttpResponse<String> scheduled =
          send(client, base, "/v1/namespaces/default/jobs", "{\"type\": \"t\", \"in\": \"1h\"}");
      assertThat(scheduled.statusCode()).isEqualTo(201);
      id = scheduled.headers().firstValue("location").orElseThrow();
      assertThat(Files.readAllLines(folder.resolve("carillon.db.server"))).first().isEqualTo(base);
    }
    long begun = System.nanoTime();
    try (ServerProcess second = ServerProcess.start(folder);
        HttpClient client = HttpClient.newHttpClient()) {
      String base = second.base();
      assertThat(send(client, base, "/health/ready", null).statusCode()).isEqualTo(200);
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(30));
      assertThat(send(client, base, id, null).body()).contains("\"SCHEDULED\"");
      second.process().destroy(); // SIGTERM
      assertThat(second.process().waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(folder.resolve("carillon.db.server")).doesNotExist();
      assertThat(Files.readString(folder.resolve("errors"))).doesNotContain("SEVERE");
    }
  }

  @Test
  void addressForEverybodyIsRefused() throws Exception {
    try (ServerProcess server = ServerProcess.start(folder, "--address", "0.0.0.0")) {
      assertThat(server.process().waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(server.process().exitValue()).isEqualTo(2);
      assertThat(server.errors()).contains("until authentication is configured");
    }
  }

  private static HttpResponse<String> send(HttpClient client, String base, String path, String body)
      throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path));
    if (body != null) {
      request
          .header("Content-Type", "application/json")
          .POST(BodyPublishers.ofString(body, StandardCharsets.UTF_8));
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }
}
