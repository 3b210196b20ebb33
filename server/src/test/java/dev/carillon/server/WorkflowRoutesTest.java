package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.RawPayload;
import dev.carillon.api.JobType;
import dev.carillon.api.workflow.SignalType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Workflows over HTTP: signals, steps, waits and their forced end. */
class WorkflowRoutesTest {
  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final JobType<RawPayload, RawPayload> ORDER =
      JobType.of("order", RawPayload.class, RawPayload.class);
  private static final SignalType<RawPayload> APPROVAL =
      SignalType.of("approval", RawPayload.class);

  @TempDir Path folder;
  private ServerFixture fixture;
  private ApiClient client;

  @BeforeEach
  void open() {
    fixture = ServerFixture.on("jdbc:sqlite:" + folder.resolve("jobs.db"));
    client = fixture.client;
    fixture.carillon.workflow(
        ORDER,
        (input, wf) -> {
          String paid = wf.step("pay", String.class, () -> "receipt");
          wf.publish(new RawPayload("json", "{\"paid\": true}".getBytes(StandardCharsets.UTF_8)));
          RawPayload approval = wf.await(APPROVAL, Duration.ofDays(7)).orElseThrow();
          String text = paid + " " + new String(approval.bytes(), StandardCharsets.UTF_8);
          return new RawPayload("json", text.getBytes(StandardCharsets.UTF_8));
        });
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private String waiting() {
    String id =
        client
            .post(JOBS, "{\"type\": \"order\", \"input\": {\"n\": 1}}")
            .expect(201)
            .json()
            .path("id")
            .asString();
    awaitState(id, "WAITING");
    return id;
  }

  private void awaitState(String id, String state) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(client.get(JOBS + "/" + id).expect(200).json().path("state").asString())
                    .isEqualTo(state));
  }

  @Test
  void stepsAndWaitAreShownUntilTheSignalComes() {
    String id = waiting();
    JsonNode shown = client.get(JOBS + "/" + id + "/workflow").expect(200).json();
    assertThat(shown.path("steps")).hasSize(1);
    assertThat(shown.path("steps").get(0).path("name").asString()).isEqualTo("pay");
    assertThat(shown.path("steps").get(0).path("state").asString()).isEqualTo("DONE");
    assertThat(shown.path("steps").get(0).path("result").asString()).isEqualTo("receipt");
    assertThat(shown.path("waitsFor").path("signals").get(0).asString()).isEqualTo("approval");
    assertThat(shown.path("waitsFor").has("until")).isTrue();
    assertThat(client.get(JOBS + "/" + id + "/published").expect(200).text())
        .isEqualTo("{\"paid\": true}");
    client.get("/v1/namespaces/other/jobs/" + id + "/published").expect(404);

    String signal = "{\"type\": \"approval\", \"payload\": {\"ok\":  true}}";
    String path = JOBS + "/" + id + "/signal";
    assertThat(
            client
                .post(path, signal, "Idempotency-Key", "k")
                .expect(200)
                .json()
                .path("result")
                .asString())
        .isEqualTo("DONE");
    awaitState(id, "SUCCEEDED");
    assertThat(client.get(JOBS + "/" + id + "/result").expect(200).text())
        .isEqualTo("receipt {\"ok\":  true}");
    assertThat(client.post(path, signal).expect(409).json().path("result").asString())
        .isEqualTo("ENDED");
    shown = client.get(JOBS + "/" + id + "/workflow").expect(200).json();
    assertThat(shown.has("waitsFor")).isFalse();
  }

  @Test
  void sameKeyIsTakenOnce() {
    String id = waiting();
    String path = JOBS + "/" + id + "/signal";
    String other = "{\"type\": \"news\", \"payloadBase64\": \"AQID\"}";
    assertThat(
            client
                .post(path, other, "Idempotency-Key", "k")
                .expect(200)
                .json()
                .path("result")
                .asString())
        .isEqualTo("DONE");
    assertThat(
            client
                .post(path, other, "Idempotency-Key", "k")
                .expect(200)
                .json()
                .path("result")
                .asString())
        .isEqualTo("TAKEN_BEFORE");
    assertThat(client.post(path, "{}").expect(400).detail()).contains("type: missing");
    client.post("/v1/namespaces/other/jobs/" + id + "/signal", other).expect(404);
    client.get("/v1/namespaces/other/jobs/" + id + "/workflow").expect(404);
  }

  @Test
  void terminatedEndsWithoutItsCode() {
    String id = waiting();
    client.post(JOBS + "/" + id + "/terminate", "{\"reason\": \"stuck\"}").expect(200);
    awaitState(id, "CANCELLED");
    assertThat(client.get(JOBS + "/" + id).expect(200).json().path("reason").asString())
        .contains("stuck");
  }

  @Test
  void jobThatIsNoWorkflowHasNoSteps() {
    String id =
        client
            .post(JOBS, "{\"type\": \"plain\", \"in\": \"1h\"}")
            .expect(201)
            .json()
            .path("id")
            .asString();
    JsonNode shown = client.get(JOBS + "/" + id + "/workflow").expect(200).json();
    assertThat(shown.path("steps")).isEmpty();
    assertThat(shown.has("waitsFor")).isFalse();
  }
}
