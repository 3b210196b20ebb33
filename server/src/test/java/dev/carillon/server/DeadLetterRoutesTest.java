package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.HandlerOptions;
import dev.carillon.RawPayload;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobId;
import dev.carillon.api.JobType;
import dev.carillon.server.ApiClient.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Dead letters over HTTP: groups, replays, discards. */
class DeadLetterRoutesTest {
  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final String BULK = "/v1/namespaces/default/bulk";
  private static final String GROUPS = "/v1/namespaces/default/dead-letters/groups";
  private static final JobType<RawPayload, RawPayload> CHARGE =
      JobType.of("charge", RawPayload.class, RawPayload.class);

  @TempDir Path folder;
  private ServerFixture fixture;
  private ApiClient client;

  @BeforeEach
  void open() {
    fixture = ServerFixture.on("jdbc:sqlite:" + folder.resolve("jobs.db"));
    client = fixture.client;
    fixture.carillon.handle(
        CHARGE,
        (input, job) -> {
          String text = new String(input.bytes(), StandardCharsets.UTF_8);
          if (!text.equals("{\"card\": \"good\"}")) {
            throw new IllegalStateException("card of customer " + text.length() + " refused");
          }
          return new RawPayload("json", "\"paid\"".getBytes(StandardCharsets.UTF_8));
        },
        HandlerOptions.defaults().failurePolicy(FailurePolicy.constant(Duration.ofMillis(1), 0)));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private String dead(String input) {
    return dead("charge", input);
  }

  private String dead(String type, String input) {
    String id =
        client
            .post(JOBS, "{\"type\": \"" + type + "\", \"input\": " + input + "}")
            .expect(201)
            .json()
            .path("id")
            .asString();
    awaitState(id, "DEAD");
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
  void failedAlikeAreOneGroup() {
    dead("1");
    dead("22");
    String last = dead("333");
    JsonNode groups = client.get(GROUPS + "?type=charge").expect(200).json().path("items");
    assertThat(groups).hasSize(1);
    assertThat(groups.get(0).path("count").asInt()).isEqualTo(3);
    assertThat(groups.get(0).path("latest").asString()).isEqualTo(last);
    assertThat(groups.get(0).path("error").path("message").asString()).contains("refused");
    assertThat(groups.get(0).path("error").has("stack")).isFalse();
    assertThat(client.get(GROUPS + "?type=other").expect(200).json().path("items")).isEmpty();
    assertThat(client.get(GROUPS + "?state=DEAD").expect(400).detail()).contains("\"state\"");
    assertThat(
            client.get("/v1/namespaces/other/dead-letters/groups").expect(200).json().path("items"))
        .isEmpty();
  }

  @Test
  void oneGroupIsReplayedOrDiscardedAndTheOthersStay() {
    fixture.carillon.handle(
        JobType.of("post", RawPayload.class, RawPayload.class),
        (input, job) -> {
          throw new IllegalStateException(
              new String(input.bytes(), StandardCharsets.UTF_8).contains("far")
                  ? "too far"
                  : "no stamp");
        },
        HandlerOptions.defaults().failurePolicy(FailurePolicy.constant(Duration.ofMillis(1), 0)));
    List<String> far = List.of(dead("post", "\"far 1\""), dead("post", "\"far 2\""));
    String stamp = dead("post", "\"near\"");
    JsonNode groups = client.get(GROUPS).expect(200).json().path("items");
    assertThat(groups).hasSize(2);
    String fingerprint = groups.get(0).path("fingerprint").asString();
    assertThat(fingerprint).contains("too far");

    String query =
        "\"query\": {\"type\": \"post\", \"fingerprint\": \"%s\"}".formatted(fingerprint);
    JsonNode count =
        client.post(BULK, "{\"action\": \"DISCARD\", \"dryRun\": true, " + query + "}").json();
    assertThat(count.path("count").asInt()).isEqualTo(2);
    assertThat(count.path("first")).hasSize(2);
    JsonNode replayed = bulk("{\"action\": \"REPLAY\", " + query + "}");
    assertThat(replayed.path("done").asInt()).isEqualTo(2);
    far.forEach(id -> assertThat(events(id)).contains("REPLAYED"));
    assertThat(events(stamp)).doesNotContain("REPLAYED");
    far.forEach(id -> awaitState(id, "DEAD"));
    JsonNode discarded = bulk("{\"action\": \"DISCARD\", " + query + "}");
    assertThat(discarded.path("done").asInt()).isEqualTo(2);
    far.forEach(id -> client.get(JOBS + "/" + id).expect(404));
    awaitState(stamp, "DEAD");

    assertThat(client.post(BULK, "{\"action\": \"CANCEL\", " + query + "}").expect(400).detail())
        .contains("query.fingerprint: given (expected: none for CANCEL");
  }

  private JsonNode bulk(String order) {
    String id = client.post(BULK, order).expect(202).json().path("id").asString();
    JsonNode[] last = new JsonNode[1];
    Awaitility.await()
        .atMost(Duration.ofSeconds(40))
        .until(
            () -> {
              last[0] = client.get(BULK + "/" + id).expect(200).json();
              return last[0].has("endedAt");
            });
    return last[0];
  }

  private List<String> events(String id) {
    List<String> kinds = new ArrayList<>();
    client
        .get(JOBS + "/" + id + "/history")
        .expect(200)
        .json()
        .path("events")
        .forEach(event -> kinds.add(event.path("kind").asString()));
    return kinds;
  }

  @Test
  void replayWithAnotherInputSucceedsAndIsToldByName() {
    String id = dead("{\"card\": \"bad\"}");
    client.post(JOBS + "/" + id + "/replay", "{\"input\": {\"card\": \"good\"}}").expect(200);
    awaitState(id, "SUCCEEDED");
    assertThat(client.get(JOBS + "/" + id + "/result").expect(200).text()).isEqualTo("\"paid\"");
    assertThat(client.get(JOBS + "/" + id + "/input").expect(200).text())
        .isEqualTo("{\"card\": \"good\"}");
    JsonNode events = client.get(JOBS + "/" + id + "/history").expect(200).json().path("events");
    JsonNode replayed = null;
    for (JsonNode event : events) {
      replayed = event.path("kind").asString().equals("REPLAYED") ? event : replayed;
    }
    assertThat(replayed).isNotNull();
    assertThat(replayed.path("by").asString()).isEqualTo("local");

    Reply again = client.post(JOBS + "/" + id + "/replay", "").expect(409);
    assertThat(again.json().path("result").asString()).isEqualTo("NOT_DEAD");
  }

  @Test
  void discardedIsNotFoundAnyMore() {
    String id = dead("1");
    client.post(JOBS + "/" + id + "/discard", "").expect(200);
    client.get(JOBS + "/" + id).expect(404);
    client.post(JOBS + "/" + id + "/discard", "").expect(404);
    assertThat(fixture.carillon.get(new JobId(id))).isEmpty();
  }

  @Test
  void badInputsChangeNothing() {
    String id = dead("1");
    assertThat(
            client.post(JOBS + "/" + id + "/replay", "{\"typeVersion\": 2}").expect(400).detail())
        .contains("typeVersion: given (expected: none without an input)");
    assertThat(
            client
                .post(JOBS + "/" + id + "/replay", "{\"input\": 1, \"inputBase64\": \"AQ==\"}")
                .expect(400)
                .detail())
        .contains("input: given with inputBase64");
    client.post("/v1/namespaces/other/jobs/" + id + "/replay", "").expect(404);
    client.post("/v1/namespaces/other/jobs/" + id + "/discard", "").expect(404);
    awaitState(id, "DEAD");
  }
}
