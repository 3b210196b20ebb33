package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The workers of the guide "A worker in any language" are run as they stand there. */
class WorkerExamplesTest {
  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final Path GUIDE = Path.of("..", "docs", "guides", "worker-any-language.md");
  private static final int MOST_LINES = 40;

  @TempDir Path folder;

  private static List<String> code(String language) throws IOException {
    List<String> lines = Files.readAllLines(GUIDE);
    int from = lines.indexOf("```" + language) + 1;
    assertThat(from).as("a block of " + language).isPositive();
    return lines.subList(from, from + lines.subList(from, lines.size()).indexOf("```"));
  }

  private static boolean isThere(String program) throws IOException, InterruptedException {
    try {
      Process process =
          new ProcessBuilder(program, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @ParameterizedTest
  @CsvSource({"python, python3, worker.py", "js, node, worker.mjs"})
  void exampleRunsJobsAndSaysWhatFailed(String language, String program, String file)
      throws Exception {
    List<String> code = code(language);
    assertThat(code).hasSizeLessThanOrEqualTo(MOST_LINES);
    assumeTrue(isThere(program), program + " is not installed: the example was not run");
    Path script = Files.write(folder.resolve(file), code);
    try (ServerFixture fixture = ServerFixture.on("jdbc:sqlite:" + folder.resolve("jobs.db"))) {
      ApiClient client = fixture.client;
      List<String> ids = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        ids.add(schedule(client, "{\"type\": \"shout\", \"input\": \"hello " + i + "\"}"));
      }
      String bad =
          schedule(
              client,
              "{\"type\": \"shout\", \"input\": 7,"
                  + " \"onFailure\": {\"kind\": \"CONSTANT\", \"interval\": \"1s\","
                  + " \"maxRetries\": 0}}");
      ProcessBuilder worker =
          new ProcessBuilder(program, script.toString())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("worker.log").toFile());
      worker
          .environment()
          .put("CARILLON_URL", "http://127.0.0.1:" + fixture.server.address().getPort());
      Process process = worker.start();
      try {
        Awaitility.await()
            .atMost(Duration.ofSeconds(60))
            .untilAsserted(
                () -> {
                  assertThat(process.isAlive())
                      .as(() -> log(folder.resolve("worker.log")))
                      .isTrue();
                  for (String id : ids) {
                    assertThat(state(client, id)).isEqualTo("SUCCEEDED");
                  }
                  assertThat(state(client, bad)).isEqualTo("DEAD");
                });
        assertThat(client.get(JOBS + "/" + ids.get(3) + "/result").expect(200).text())
            .isEqualTo("\"HELLO 3\"");
      } finally {
        process.destroyForcibly();
        process.waitFor();
      }
    }
  }

  private static String log(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static String schedule(ApiClient client, String body) {
    return client.post(JOBS, body).expect(201).json().path("id").asString();
  }

  private static String state(ApiClient client, String id) {
    return client.get(JOBS + "/" + id).expect(200).json().path("state").asString();
  }
}
