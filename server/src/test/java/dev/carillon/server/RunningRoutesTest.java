package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.JobId;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Three nodes on PostgreSQL, two with a server and one with the library alone. */
class RunningRoutesTest {
  private static final TaskType<Integer> HOLD = TaskType.of("hold", Integer.class);
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration LISTED_WITHIN = Duration.ofSeconds(1);

  private final CountDownLatch over = new CountDownLatch(1);

  private CarillonBuilder node(String id) {
    return Carillon.builder()
        .url(PostgresServer.shared().url() + "&carillon.schema=server_running")
        .nodeId(id)
        .closeGrace(Duration.ofSeconds(2));
  }

  private void handle(Carillon carillon, CountDownLatch started) {
    carillon.handle(
        HOLD,
        (input, job) -> {
          started.countDown();
          over.await();
        });
  }

  @Test
  void whatRunsOnEachNodeIsListedByEveryServerWithinASecond() throws Exception {
    CountDownLatch started = new CountDownLatch(3);
    try (ServerFixture one = ServerFixture.on(node("one"));
        ServerFixture two = ServerFixture.on(node("two"));
        Carillon library = node("library").open()) {
      Awaitility.await().atMost(SOON).until(() -> one.carillon.node().members().size() == 3);
      Awaitility.await().atMost(SOON).until(() -> two.carillon.node().members().size() == 3);
      Map<String, String> expected = new TreeMap<>();
      for (Carillon each : List.of(one.carillon, two.carillon, library)) {
        handle(each, started);
        JobId id = each.schedule(HOLD.job(1)).id();
        expected.put(id.value(), each.node().members().getFirst().nodeId());
      }
      assertThat(started.await(20, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
      for (ServerFixture asked : List.of(one, two)) {
        Awaitility.await()
            .atMost(LISTED_WITHIN)
            .pollInterval(Duration.ofMillis(10))
            .untilAsserted(
                () -> {
                  JsonNode running =
                      asked.client.get("/v1/namespaces/default/running").expect(200).json();
                  assertThat(places(running)).isEqualTo(expected);
                  assertThat(running.path("silent")).isEmpty();
                  assertThat(running.path("nodes")).hasSize(3);
                });
        assertThat(places(asked.client.get("/v1/cluster/running").expect(200).json()))
            .isEqualTo(expected);
        assertThat(asked.client.get("/v1/namespaces/other/running").expect(200).json().get("items"))
            .isEmpty();
        for (String id : expected.keySet()) {
          JsonNode job = asked.client.get("/v1/namespaces/default/jobs/" + id).expect(200).json();
          assertThat(job.path("state").asString()).isEqualTo("RUNNING");
        }
        JsonNode listed =
            asked.client.get("/v1/namespaces/default/jobs?state=RUNNING").expect(200).json();
        assertThat(listed.path("items")).hasSize(3);
      }
      over.countDown();
    }
  }

  private static Map<String, String> places(JsonNode running) {
    Map<String, String> places = new TreeMap<>();
    for (JsonNode each : running.path("items")) {
      places.put(each.path("id").asString(), each.path("node").asString());
    }
    return places;
  }
}
