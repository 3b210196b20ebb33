package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.fixture.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The cluster over HTTP: members, shards, drain and move. */
class ClusterRoutesTest {
  private static final String CLUSTER = "/v1/cluster";

  private static String url(String schema) {
    return PostgresServer.shared().url() + "&carillon.schema=" + schema;
  }

  @Test
  void nodeAloneShowsItselfAndTakesNoOrders() {
    try (ServerFixture fixture = ServerFixture.on(Carillon.builder().inMemory().nodeId("me"))) {
      ApiClient client = fixture.client;
      client.post("/v1/namespaces/default/jobs", "{\"type\": \"t\", \"in\": \"1h\"}").expect(201);
      JsonNode cluster = client.get(CLUSTER).expect(200).json();
      assertThat(cluster.path("asked").asString()).isEqualTo("me");
      assertThat(cluster.path("members").get(0).path("state").asString()).isEqualTo("THERE");
      assertThat(cluster.path("slices")).isNotEmpty();
      assertThat(client.post(CLUSTER + "/members/me/drain", "").expect(409).detail())
          .contains("held by this node alone");
    }
  }

  @Test
  void drainedMemberHandsItsShardsOverAndAShardIsMoved() {
    String url = url("server_cluster");
    try (ServerFixture one = ServerFixture.on(Carillon.builder().url(url).nodeId("one"));
        ServerFixture two = ServerFixture.on(Carillon.builder().url(url).nodeId("two"))) {
      for (String in : List.of("1s", "25h", "50h", "800h")) { // the first has an owner always
        one.client
            .post("/v1/namespaces/default/jobs", "{\"type\": \"t\", \"in\": \"" + in + "\"}")
            .expect(201);
      }
      List<String> ids = new ArrayList<>();
      String cursor = "";
      do {
        JsonNode page = two.client.get(CLUSTER + "/shards?limit=2" + cursor).expect(200).json();
        page.path("items").forEach(shard -> ids.add(shard.path("id").asString()));
        cursor = page.has("next") ? "&cursor=" + page.path("next").asString() : "";
      } while (!cursor.isEmpty());
      assertThat(ids).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(4);

      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(member(two.client, "two")).startsWith("THERE"));
      two.client
          .post(CLUSTER + "/shards/" + ids.getFirst() + "/move", "{\"node\": \"two\"}")
          .expect(200);
      awaitOwner(one.client, ids.getFirst(), "two");
      two.client.post(CLUSTER + "/shards/" + ids.getFirst() + "/move", "").expect(200);

      two.client.post(CLUSTER + "/members/one/drain", "").expect(200);
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(member(two.client, "one")).isEqualTo("DRAINING 0"));
      two.client.post(CLUSTER + "/members/one/undrain", "").expect(200);
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(member(two.client, "one")).startsWith("THERE"));

      assertThat(two.client.post(CLUSTER + "/members/three/drain", "").expect(400).detail())
          .contains("nodeId: \"three\" (expected: one that is there or expected back: [one, two]");
      assertThat(
              two.client
                  .post(CLUSTER + "/shards/nonsense/move", "{\"node\": \"one\"}")
                  .expect(400)
                  .detail())
          .contains("shardId: \"nonsense\"");
    }
  }

  private static void awaitOwner(ApiClient client, String shard, String node) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              JsonNode page = client.get(CLUSTER + "/shards?limit=1000").expect(200).json();
              String owner = "";
              for (JsonNode each : page.path("items")) {
                owner =
                    each.path("id").asString().equals(shard)
                        ? each.path("owner").asString("")
                        : owner;
              }
              assertThat(owner).isEqualTo(node);
            });
  }

  private static String member(ApiClient client, String node) {
    for (JsonNode each : client.get(CLUSTER).expect(200).json().path("members")) {
      if (each.path("node").asString().equals(node)) {
        return each.path("state").asString() + " " + each.path("owned").asInt();
      }
    }
    return "";
  }
}
