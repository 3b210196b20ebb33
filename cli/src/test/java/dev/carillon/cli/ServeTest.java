package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
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
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./carillon serve} as a process of its own. */
class ServeTest {
  @TempDir private Path folder;

  private Process start(String... more) throws IOException {
    List<String> command =
        new java.util.ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Djdk.trackAllThreads=false",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "serve",
                "--port",
                "0"));
    command.addAll(List.of(more));
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectError(folder.resolve("errors").toFile())
        .start();
  }

  @Test
  void servesAFileAndGoesOnAfterAKillAndStopsInOrder() throws Exception {
    String id;
    Process first = start();
    try (HttpClient client = HttpClient.newHttpClient()) {
      String base = base(first);
      assertThat(send(client, base, "/health/ready", null).statusCode()).isEqualTo(200);
      HttpResponse<String> scheduled =
          send(client, base, "/v1/namespaces/default/jobs", "{\"type\": \"t\", \"in\": \"1h\"}");
      assertThat(scheduled.statusCode()).isEqualTo(201);
      id = scheduled.headers().firstValue("location").orElseThrow();
      assertThat(Files.readString(folder.resolve("carillon.db.server")).strip()).isEqualTo(base);
    } finally {
      first.destroyForcibly().waitFor();
    }
    long begun = System.nanoTime();
    Process second = start();
    try (HttpClient client = HttpClient.newHttpClient()) {
      String base = base(second);
      assertThat(send(client, base, "/health/ready", null).statusCode()).isEqualTo(200);
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(30));
      assertThat(send(client, base, id, null).body()).contains("\"SCHEDULED\"");
      second.destroy(); // SIGTERM
      assertThat(second.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(folder.resolve("carillon.db.server")).doesNotExist();
      assertThat(Files.readString(folder.resolve("errors"))).doesNotContain("SEVERE");
    } finally {
      second.destroyForcibly().waitFor();
    }
  }

  @Test
  void addressForEverybodyIsRefused() throws Exception {
    Process process = start("--address", "0.0.0.0");
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(2);
    assertThat(Files.readString(folder.resolve("errors")))
        .contains("until authentication is configured");
  }

  private String base(Process process) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    assertThat(line)
        .as(Files.readString(folder.resolve("errors")))
        .startsWith("serving jdbc:sqlite:carillon.db at http://127.0.0.1:");
    return line.substring(line.indexOf("http:"));
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
