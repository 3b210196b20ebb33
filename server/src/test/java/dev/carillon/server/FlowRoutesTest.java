package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Pauses, limits and rates of queues and namespaces over HTTP. */
class FlowRoutesTest {
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
    assertThat(client.get(path).expect(200).json().toString()).isEqualTo("{\"paused\":false}");
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
