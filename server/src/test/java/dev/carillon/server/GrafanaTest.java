package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The Grafana file asks only for what a server has. */
class GrafanaTest {
  private static final Path FILE = Path.of("..", "docs", "examples", "grafana.json");
  private static final TaskType<Integer> TASK = TaskType.of("task", Integer.class);
  private static final Pattern NAME = Pattern.compile("carillon_[a-z_]+");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^(carillon_[a-z_]+)[{ ]");

  @Test
  void everyMeterOfTheFileIsOneOfAServers() throws IOException {
    Set<String> asked = new TreeSet<>();
    int targets = 0;
    JsonNode file = JsonMapper.builder().build().readTree(Files.readString(FILE));
    for (JsonNode panel : file.path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        targets++;
        collect(NAME, target.path("expr").asString(), asked);
      }
    }
    for (JsonNode variable : file.path("templating").path("list")) {
      collect(NAME, variable.path("query").asString(), asked);
    }
    assertThat(targets).isGreaterThan(10);
    assertThat(asked).hasSizeGreaterThan(15);
    try (ServerFixture fixture = ServerFixture.on(Carillon.builder().inMemory())) {
      fixture.carillon.handle(TASK, (input, job) -> {});
      fixture.carillon.schedule(TASK.job(1));
      fixture.client.post(
          "/v1/namespaces/default/jobs", "{\"type\": \"none\", \"at\": \"2026-01-01T00:00:00Z\"}");
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                Set<String> there = new TreeSet<>();
                collect(SAMPLE, fixture.client.get("/metrics").expect(200).text(), there);
                assertThat(there).containsAll(asked);
              });
    }
  }

  private static void collect(Pattern pattern, String text, Set<String> into) {
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      into.add(matcher.groupCount() > 0 ? matcher.group(1) : matcher.group());
    }
  }
}
