package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Pauses, limits and rates of queues and namespaces over HTTP. */
class FlowRoutesTest {
  private static final String ACCESS = "/v1/namespaces/shop/access";

  @TempDir Path folder;
  private ServerFixture fixture;
  private ApiClient client;

  @BeforeEach
  void open() {
    fixture = ServerFixture.on("jdbc:sqlite:" + folder.resolve("jobs.db"));
    client = fixture.client;
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/queues/mail", "/v1/namespaces/shop/flow"})
  void settingIsInEffectUntilItIsTakenBack(String path) {
    assertThat(client.get(path).expect(200).json().path("paused").asBoolean()).isFalse();
    client.post(path + "/pause", "{\"reason\": \"moving\"}").expect(200);
    client.put(path + "/limit", "{\"limit\": 7}").expect(200);
    client.put(path + "/rate", "{\"permits\": 10, \"period\": \"1m\", \"burst\": 3}").expect(200);
    JsonNode set = client.get(path).expect(200).json();
    assertThat(set.path("paused").asBoolean()).isTrue();
    assertThat(set.path("reason").asString()).isEqualTo("moving");
    assertThat(set.path("limit").asInt()).isEqualTo(7);
    assertThat(set.path("rate").path("permits").asInt()).isEqualTo(10);
    assertThat(set.path("rate").path("period").asString()).isEqualTo("PT1M");
    assertThat(set.path("rate").path("burst").asInt()).isEqualTo(3);

    String job = "{\"type\": \"t\", \"queue\": \"mail\"}";
    String id =
        client.post("/v1/namespaces/shop/jobs", job).expect(201).json().path("id").asString();
    assertThat(
            client
                .get("/v1/namespaces/shop/jobs/" + id)
                .expect(200)
                .json()
                .path("state")
                .asString())
        .isEqualTo("PAUSED");

    client.post(path + "/resume", "").expect(200);
    client.delete(path + "/limit").expect(200);
    client.delete(path + "/rate").expect(200);
    JsonNode back = client.get(path).expect(200).json();
    assertThat(back.propertyNames()).containsExactlyInAnyOrder("paused", "changedBy", "changedAt");
    assertThat(back.path("paused").asBoolean()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/queues/mail", "/v1/namespaces/shop/flow"})
  void settingSaysWhoMadeIt(String path) {
    assertThat(client.get(path).expect(200).json().has("changedBy")).isFalse();
    Instant before = Instant.now();
    client.post(path + "/pause", "{\"reason\": \"moving\"}").expect(200);
    JsonNode paused = client.get(path).expect(200).json();
    String by = paused.path("pausedBy").asString();
    Instant since = Instant.parse(paused.path("pausedAt").asString());
    assertThat(by).isEqualTo(client.get(ACCESS).expect(200).json().path("caller").asString());
    assertThat(since).isBetween(before.minusMillis(1), Instant.now());

    client.post(path + "/pause", "{\"reason\": \"moving\"}").expect(200);
    fixture.carillon.as("ann").queue("mail").limit(3);
    fixture.carillon.as("ann").namespace("shop").limit(3);
    JsonNode limited = client.get(path).expect(200).json();
    assertThat(limited.path("pausedAt")).isEqualTo(paused.path("pausedAt"));
    assertThat(limited.path("pausedBy").asString()).isEqualTo(by);
    assertThat(limited.path("changedBy").asString()).isEqualTo("ann");

    client.post(path + "/resume", "").expect(200);
    assertThat(client.get(path).expect(200).json().has("pausedBy")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/queues/mail", "/v1/namespaces/shop/flow"})
  void settingIsOverwrittenOnlyAsItWasSeen(String path) {
    String seen = etag(path);
    client.put(path + "/limit", "{\"limit\": 7}", "If-Match", seen).expect(200);
    String after = etag(path);
    assertThat(after).isNotEqualTo(seen);
    ApiClient.Reply late = client.put(path + "/limit", "{\"limit\": 8}", "If-Match", seen);
    assertThat(late.expect(412).detail()).contains(after.replace("\"", ""), "nothing was changed");
    client.delete(path + "/limit", "If-Match", seen).expect(412);
    client.post(path + "/pause", "{}", "If-Match", "W/" + after).expect(412);
    assertThat(client.get(path).expect(200).json().path("limit").asInt()).isEqualTo(7);
    assertThat(etag(path)).isEqualTo(after);

    client.put(path + "/limit", "{\"limit\": 8}", "If-Match", seen + ", " + after).expect(200);
    client.put(path + "/limit", "{\"limit\": 9}", "If-Match", "*").expect(200);
    client.put(path + "/limit", "{\"limit\": 10}").expect(200);
    client.delete(path + "/limit", "If-Match", etag(path)).expect(200);
    assertThat(client.get(path).expect(200).json().has("limit")).isFalse();
  }

  private String etag(String path) {
    return client.get(path).expect(200).whole().headers().firstValue("etag").orElseThrow();
  }

  @Test
  void queuesWithSettingsAndThoseWithWorkAreListed() {
    assertThat(client.get("/v1/queues").expect(200).json().path("items")).isEmpty();
    client.post("/v1/queues/mail/pause", "{\"reason\": \"moving\"}").expect(200);
    client.post("/v1/namespaces/shop/jobs", "{\"type\": \"t\", \"queue\": \"print\"}").expect(201);
    client
        .post("/v1/namespaces/shop/jobs", "{\"type\": \"t\", \"queue\": \"later\", \"in\": \"2h\"}")
        .expect(201);
    JsonNode list = client.get("/v1/queues").expect(200).json();
    assertThat(list.path("complete").asBoolean()).isTrue();
    assertThat(list.path("silent")).isEmpty();
    assertThat(list.path("items")).hasSize(2);
    JsonNode mail = list.path("items").get(0);
    assertThat(mail.path("queue").asString()).isEqualTo("mail");
    assertThat(mail.path("paused").asBoolean()).isTrue();
    assertThat(mail.path("reason").asString()).isEqualTo("moving");
    JsonNode print = list.path("items").get(1);
    assertThat(print.path("queue").asString()).isEqualTo("print");
    assertThat(print.path("waiting").asInt()).isEqualTo(1);
    assertThat(print.has("oldestDue")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/queues/mail", "/v1/namespaces/shop/flow"})
  void badSettingsAreNamed(String path) {
    assertThat(client.put(path + "/limit", "{}").expect(400).detail()).contains("limit: missing");
    assertThat(client.put(path + "/limit", "{\"limit\": 0}").expect(400).detail())
        .contains("limit: 0 (expected: at least 1)");
    assertThat(client.put(path + "/rate", "{\"permits\": 0}").expect(400).detail())
        .contains("permits: 0");
    assertThat(client.put(path + "/rate", "{}").expect(400).detail()).contains("permits: missing");
    assertThat(client.get(path).expect(200).json().toString()).isEqualTo("{\"paused\":false}");
  }
}
