package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.access.Role;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Workers that speak HTTP take jobs, say how they go, and are held to their leases. */
class WorkRoutesTest {
  private static final String NAMESPACE = "/v1/namespaces/default";
  private static final String JOBS = NAMESPACE + "/jobs";
  private static final String WORK = NAMESPACE + "/work";

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

  private String schedule(String body) {
    return client.post(JOBS, body).expect(201).json().path("id").asString();
  }

  private List<JsonNode> take(String body) {
    List<JsonNode> attempts = new ArrayList<>();
    client.post(WORK, body).expect(200).json().path("attempts").forEach(attempts::add);
    return attempts;
  }

  private JsonNode takeOne(String body) {
    List<JsonNode> attempts = take(body);
    assertThat(attempts).hasSize(1);
    return attempts.getFirst();
  }

  private String at(JsonNode attempt, String verb) {
    return WORK + "/" + attempt.path("token").asString() + "/" + verb;
  }

  private JsonNode job(String id) {
    return client.get(JOBS + "/" + id).expect(200).json();
  }

  private void awaitState(String id, String state) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(job(id).path("state").asString()).isEqualTo(state));
  }

  @Test
  void workIsTakenBeatenForAndDone() {
    String id =
        schedule("{\"type\": \"resize\", \"input\": {\"w\": 3}, \"metadata\": {\"a\": \"b\"}}");
    JsonNode attempt =
        takeOne("{\"types\": [\"resize\"], \"wait\": \"20s\", \"worker\": \"py-1\"}");
    assertThat(attempt.path("id").asString()).isEqualTo(id);
    assertThat(attempt.path("input").path("w").asInt()).isEqualTo(3);
    assertThat(attempt.path("metadata").path("a").asString()).isEqualTo("b");
    assertThat(attempt.path("lease").asString()).isEqualTo("PT20S");
    JsonNode beat =
        client
            .post(
                at(attempt, "beat"),
                "{\"progress\": {\"done\": 1, \"total\": 2, \"message\": \"half\"}}")
            .expect(200)
            .json();
    assertThat(beat.path("lease").asString()).isEqualTo("PT20S");
    assertThat(beat.has("stop")).isFalse();
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(job(id).path("progress").path("message").asString()).isEqualTo("half"));
    client.post(at(attempt, "done"), "{\"result\": {\"ok\": true}}").expect(204);
    awaitState(id, "SUCCEEDED");
    assertThat(client.get(JOBS + "/" + id + "/result").expect(200).text())
        .isEqualTo("{\"ok\": true}");
    assertThat(client.get(JOBS + "/" + id + "/history").expect(200).text()).contains("py-1/");
    assertThat(client.post(at(attempt, "done"), "{}").expect(409).problem())
        .isEqualTo("stale-attempt");
    assertThat(client.post(at(attempt, "beat"), "{}").expect(409).problem())
        .isEqualTo("stale-attempt");
  }

  @Test
  void severalAreTakenAtOnceEachOnce() {
    Set<String> scheduled = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      scheduled.add(schedule("{\"type\": \"t\", \"queue\": \"q\"}"));
    }
    Set<String> taken = new HashSet<>();
    while (taken.size() < 20) {
      List<JsonNode> attempts = take("{\"queue\": \"q\", \"most\": 8, \"wait\": \"20s\"}");
      assertThat(attempts).isNotEmpty();
      for (JsonNode attempt : attempts) {
        assertThat(taken.add(attempt.path("id").asString())).isTrue();
        client.post(at(attempt, "done"), "").expect(204);
      }
    }
    assertThat(taken).isEqualTo(scheduled);
    assertThat(take("{\"queue\": \"q\"}")).isEmpty();
  }

  @Test
  void requestThatWaitsIsAnsweredWhenAJobComes() {
    CompletableFuture<JsonNode> waits =
        CompletableFuture.supplyAsync(() -> takeOne("{\"types\": [\"late\"], \"wait\": \"30s\"}"));
    Awaitility.await().until(() -> !fixture.carillon.node().workers().connected().isEmpty());
    String id = schedule("{\"type\": \"late\"}");
    assertThat(waits.join().path("id").asString()).isEqualTo(id);
  }

  @Test
  void failuresFollowThePolicyUnlessTheWorkerSaysMore() {
    String id =
        schedule(
            "{\"type\": \"f\", \"onFailure\": {\"kind\": \"CONSTANT\", \"interval\": \"10ms\","
                + " \"maxRetries\": 5}}");
    JsonNode first = takeOne("{\"types\": [\"f\"], \"wait\": \"20s\"}");
    client.post(at(first, "save"), "{\"state\": {\"page\": 7}}").expect(204);
    client
        .post(at(first, "fail"), "{\"error\": {\"type\": \"IOError\", \"message\": \"away\"}}")
        .expect(204);
    JsonNode second = takeOne("{\"types\": [\"f\"], \"wait\": \"20s\"}");
    assertThat(second.path("attempt").asInt()).isEqualTo(2);
    assertThat(second.path("saved").path("page").asInt()).isEqualTo(7);
    client.post(at(second, "again"), "{\"in\": \"10ms\", \"note\": \"busy\"}").expect(204);
    JsonNode third = takeOne("{\"types\": [\"f\"], \"wait\": \"20s\"}");
    client.post(at(third, "back"), "").expect(204);
    JsonNode fourth = takeOne("{\"types\": [\"f\"], \"wait\": \"20s\"}");
    client
        .post(at(fourth, "fail"), "{\"error\": {\"message\": \"no such page\"}, \"retry\": false}")
        .expect(204);
    awaitState(id, "DEAD");
    assertThat(job(id).path("lastError").path("message").asString()).isEqualTo("no such page");
  }

  @Test
  void cancelIsToldWithTheNextBeat() {
    String id = schedule("{\"type\": \"long\"}");
    JsonNode attempt = takeOne("{\"types\": [\"long\"], \"wait\": \"20s\"}");
    client.post(JOBS + "/" + id + "/cancel", "{}").expect(200);
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(
                        client
                            .post(at(attempt, "beat"), "{}")
                            .expect(200)
                            .json()
                            .path("stop")
                            .asString(""))
                    .isEqualTo("CANCELLED"));
    client.post(at(attempt, "back"), "").expect(204);
    awaitState(id, "CANCELLED");
  }

  @Test
  void workerThatIsSilentForItsLeaseIsLostAndItsTokenIsStale() {
    String id =
        schedule(
            "{\"type\": \"l\", \"onFailure\": {\"kind\": \"CONSTANT\", \"interval\": \"10ms\","
                + " \"maxRetries\": 5}}");
    JsonNode lost = takeOne("{\"types\": [\"l\"], \"wait\": \"20s\", \"lease\": \"5s\"}");
    JsonNode next = takeOne("{\"types\": [\"l\"], \"wait\": \"30s\", \"lease\": \"5s\"}");
    assertThat(next.path("id").asString()).isEqualTo(id);
    assertThat(next.path("attempt").asInt()).isEqualTo(2);
    assertThat(client.post(at(lost, "done"), "{}").expect(409).problem())
        .isEqualTo("stale-attempt");
    client.post(at(next, "done"), "{}").expect(204);
    awaitState(id, "SUCCEEDED");
    assertThat(client.get(JOBS + "/" + id + "/history").expect(200).text()).contains("worker lost");
  }

  @Test
  void attemptOutlivesItsServer() {
    String id = schedule("{\"type\": \"o\"}");
    JsonNode attempt = takeOne("{\"types\": [\"o\"], \"wait\": \"20s\"}");
    fixture.close();
    fixture = ServerFixture.on("jdbc:sqlite:" + folder.resolve("jobs.db"));
    client = fixture.client;
    assertThat(client.post(at(attempt, "beat"), "{}").expect(200).json().has("lease")).isTrue();
    client.post(at(attempt, "done"), "{\"result\": 1}").expect(204);
    awaitState(id, "SUCCEEDED");
    assertThat(job(id).path("attempt").asInt()).isEqualTo(1);
  }

  @Test
  void workersReachTheirNamespaceAndQueuesOnly() {
    fixture.close();
    fixture = ServerFixture.secured(Carillon.builder().inMemory());
    ApiClient submitter = fixture.client.as(fixture.token(Role.SUBMITTER, "default", "other"));
    ApiClient worker = fixture.client.as(fixture.token(Role.WORKER, "default"));
    ApiClient stranger = fixture.client.as(fixture.token(Role.WORKER, "other"));
    submitter.post(JOBS, "{\"type\": \"t\"}").expect(201);
    String takes = "{\"types\": [\"t\"], \"wait\": \"20s\"}";
    stranger.post(WORK, takes).expect(403);
    submitter.post(WORK, takes).expect(403);
    assertThat(
            stranger
                .post("/v1/namespaces/other/work", "{\"types\": [\"t\"]}")
                .expect(200)
                .json()
                .path("attempts"))
        .isEmpty();
    JsonNode attempt = worker.post(WORK, takes).expect(200).json().path("attempts").get(0);
    String token = attempt.path("token").asString();
    stranger.post("/v1/namespaces/other/work/" + token + "/done", "{}").expect(404);
    worker.get(JOBS).expect(403);
    worker.post(WORK + "/" + token + "/done", "{}").expect(204);
  }

  @Test
  void whatMakesNoSenseIsRefusedByName() {
    for (String[] each :
        new String[][] {
          {"{}", "types: missing"},
          {"{\"types\": []}", "types: missing"},
          {"{\"types\": [\"carillon.bulk\"]}", "types"},
          {"{\"types\": [\"t\"], \"most\": 0}", "most: 0"},
          {"{\"types\": [\"t\"], \"most\": 65}", "most: 65"},
          {"{\"types\": [\"t\"], \"wait\": \"31s\"}", "wait"},
          {"{\"types\": [\"t\"], \"lease\": \"1s\"}", "lease"},
          {"{\"types\": [\"t\"], \"worker\": \" \"}", "worker"},
          {"{\"queue\": \"a b\\u0000\"}", "queue"},
          {"{\"types\": [\"t\"], \"slots\": 1}", "slots: unknown field"}
        }) {
      assertThat(client.post(WORK, each[0]).expect(400).detail()).startsWith(each[1]);
    }
    for (String token : List.of("x", "AAAA", "AQAA", "%20", "a".repeat(3_000))) {
      assertThat(client.post(WORK + "/" + token + "/beat", "{}").expect(400).detail())
          .startsWith("token");
    }
    String id = schedule("{\"type\": \"t\"}");
    JsonNode attempt = takeOne("{\"types\": [\"t\"], \"wait\": \"20s\"}");
    client.post(at(attempt, "again"), "{}").expect(400);
    client.post(at(attempt, "save"), "{}").expect(400);
    client.post(at(attempt, "beat"), "{\"progress\": {\"done\": 3, \"total\": 2}}").expect(400);
    client
        .post(at(attempt, "fail"), "{\"retry\": false, \"notBefore\": \"2030-01-01T00:00:00Z\"}")
        .expect(400);
    client.post(at(attempt, "done"), "{}").expect(204);
    awaitState(id, "SUCCEEDED");
  }
}
