package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Figures over time and the map of shards: of a server and a node with the library alone. */
class FigureRoutesTest {
  private static final TaskType<Integer> MINE = TaskType.of("mine", Integer.class);
  private static final TaskType<Integer> OTHER = TaskType.of("other", Integer.class);
  private static final Duration SOON = Duration.ofSeconds(30);

  private CarillonBuilder node(String id) {
    return Carillon.builder()
        .url(PostgresServer.shared().url() + "&carillon.schema=server_figures")
        .nodeId(id)
        .closeGrace(Duration.ofSeconds(2));
  }

  private static long sum(JsonNode numbers) {
    long sum = 0;
    for (JsonNode each : numbers) {
      sum += each.asLong();
    }
    return sum;
  }

  private static List<String> texts(JsonNode list) {
    List<String> all = new ArrayList<>();
    list.forEach(each -> all.add(each.asString()));
    return all;
  }

  @Test
  void figuresOfAllNodesAreAddedUpAndWhoIsGoneIsNotForgotten() {
    try (ServerFixture one = ServerFixture.on(node("one"))) {
      one.carillon.handle(MINE, (input, job) -> {});
      try (Carillon library = node("library").open()) {
        library.handle(OTHER, (input, job) -> {});
        Awaitility.await().atMost(SOON).until(() -> one.carillon.node().members().size() == 2);
        Awaitility.await()
            .atMost(SOON)
            .until(
                () -> {
                  JsonNode told = one.client.get("/v1/cluster/figures").expect(200).json();
                  return told.path("told").valueStream().anyMatch(n -> n.asInt() == 2);
                });
        for (int i = 0; i < 20; i++) {
          one.carillon.schedule(MINE.job(i));
          one.carillon.schedule(OTHER.job(i).queue("far"));
        }
        Awaitility.await()
            .atMost(SOON)
            .untilAsserted(
                () -> {
                  JsonNode told = one.client.get("/v1/cluster/figures").expect(200).json();
                  assertThat(texts(told.path("nodes"))).containsExactly("one", "library");
                  assertThat(sum(told.path("started"))).isGreaterThanOrEqualTo(40);
                  assertThat(sum(told.path("ended"))).isGreaterThanOrEqualTo(40);
                  assertThat(told.path("p99")).anyMatch(JsonNode::isNumber);
                });
        Awaitility.await()
            .atMost(SOON)
            .untilAsserted(
                () -> {
                  JsonNode map = one.client.get("/v1/cluster/map").expect(200).json();
                  assertThat(map.path("items").valueStream().map(r -> r.path("node").asString()))
                      .contains("one");
                  assertThat(map.path("nodes")).hasSize(2);
                });
      }
      JsonNode told = one.client.get("/v1/cluster/figures?range=PT10M").expect(200).json();
      assertThat(sum(told.path("started"))).isGreaterThanOrEqualTo(40);
      assertThat(told.path("at").size()).isEqualTo(told.path("ready").size());
    }
  }

  @Test
  void latenessIsByQueueAndTime() {
    try (ServerFixture one = ServerFixture.on(Carillon.builder().inMemory())) {
      one.carillon.handle(MINE, (input, job) -> {});
      Awaitility.await()
          .atMost(SOON)
          .until(
              () -> {
                one.carillon.schedule(MINE.job(1).queue("letters"));
                JsonNode told =
                    one.client.get("/v1/cluster/lateness?range=PT10M").expect(200).json();
                return told.path("queues").valueStream().anyMatch(FigureRoutesTest::isLetters);
              });
      JsonNode told = one.client.get("/v1/cluster/lateness?range=PT10M").expect(200).json();
      JsonNode cells = told.path("queues").get(0).path("cells");
      assertThat(cells.size() % 3).isZero();
      assertThat(cells.get(1).asInt()).isLessThanOrEqualTo(told.path("bounds").size());
      one.client.get("/v1/cluster/lateness").expect(200);
      one.client.get("/v1/cluster/lateness?range=PT3H").expect(400);
      assertThat(one.client.get("/v1/cluster/figures?range=5m").expect(400).text())
          .contains("PT10M, PT2H or PT72H");
    }
  }

  private static boolean isLetters(JsonNode queue) {
    return queue.path("queue").asString().equals("letters") && !queue.path("cells").isEmpty();
  }
}
