package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.server.access.Role;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Changes and denials, as ended jobs of a namespace of the server's own. */
class AuditTest {
  private static final String AUDIT = "/v1/namespaces/carillon.audit/jobs";

  @TempDir Path folder;
  private ServerFixture fixture;
  private ApiClient admin;
  private ApiClient viewer;

  @BeforeEach
  void open() {
    fixture = ServerFixture.secured(Carillon.builder().inMemory());
    admin = fixture.client.as(fixture.token(Role.ADMIN, "*"));
    viewer = fixture.client.as(fixture.token(Role.VIEWER, "a"));
  }

  @AfterEach
  void close() {
    admin.close();
    viewer.close();
    fixture.close();
  }

  private List<JsonNode> entries(String query) {
    List<JsonNode> entries = new ArrayList<>();
    admin.get(AUDIT + "?" + query).expect(200).json().path("items").forEach(entries::add);
    return entries;
  }

  @Test
  void changesAreKeptWithWhoMadeThemBeforeTheyAreAnswered() {
    admin.post("/v1/namespaces/a/flow/pause", "{\"reason\": \"secret reason\"}").expect(200);
    List<JsonNode> entries = entries("meta.operation=pauseNamespace");
    assertThat(entries).hasSize(1);
    String id = entries.getFirst().path("id").asString();
    String input = admin.get(AUDIT + "/" + id + "/input").expect(200).text();
    assertThat(input)
        .contains("\"operation\":\"pauseNamespace\"")
        .contains("\"outcome\":\"done\"")
        .contains("\"caller\":\"test/")
        .contains("\"address\":\"127.0.0.1\"")
        .contains("\"ns\":\"a\"")
        .doesNotContain("secret reason");
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(entries("meta.operation=pauseNamespace").getFirst().path("state"))
                    .hasToString("\"SUCCEEDED\""));
  }

  @Test
  void denialsAreKeptAndReadsAndMistakesAreNot() {
    viewer.get("/v1/namespaces/a/jobs").expect(200);
    viewer.get("/v1/namespaces/b/jobs").expect(403);
    viewer.post("/v1/namespaces/a/flow/pause", "{}").expect(403);
    fixture.client.get("/v1/namespaces/a/jobs").expect(401);
    admin.put("/v1/namespaces/a/flow/limit", "{}").expect(400);
    admin.post("/v1/namespaces/a/jobs", "{\"type\": \"t\"}").expect(201);
    Awaitility.await().untilAsserted(() -> assertThat(entries("meta.outcome=denied")).hasSize(3));
    assertThat(entries("meta.outcome=denied&meta.namespace=b")).hasSize(1);
    assertThat(entries("limit=100")).hasSize(3);
  }

  @Test
  void tokensLeaveNoSecretInTheAudit() {
    JsonNode issued =
        admin
            .post("/v1/tokens", "{\"name\": \"x\", \"role\": \"viewer\", \"namespaces\": [\"*\"]}")
            .expect(201)
            .json();
    String id = issued.path("token").path("id").asString();
    admin.post("/v1/tokens/" + id + "/revoke", "{}").expect(200);
    List<JsonNode> entries = entries("limit=100");
    assertThat(entries).hasSize(2);
    for (JsonNode entry : entries) {
      String input =
          admin.get(AUDIT + "/" + entry.path("id").asString() + "/input").expect(200).text();
      assertThat(input).doesNotContain("crl_").contains("Token");
    }
  }

  @Test
  void floodOfDenialsIsCountedAndNotKept() {
    for (int i = 0; i < 400; i++) {
      fixture.client.get("/v1/namespaces/a/jobs").expect(401);
    }
    Awaitility.await().until(() -> entries("limit=1000&meta.outcome=denied").size() >= 100);
    assertThat(entries("limit=1000&meta.outcome=denied")).hasSizeBetween(100, 300);
    admin.post("/v1/namespaces/a/flow/pause", "{}").expect(200);
    String id = entries("meta.operation=pauseNamespace").getFirst().path("id").asString();
    assertThat(admin.get(AUDIT + "/" + id + "/input").expect(200).text()).contains("leftOutBefore");
  }

  @Test
  void whatWasLeftOutLastIsKeptWhenTheServerStops() {
    String url = "jdbc:sqlite:" + folder.resolve("jobs.db");
    try (ServerFixture flooded = ServerFixture.secured(Carillon.builder().url(url))) {
      for (int i = 0; i < 400; i++) {
        flooded.client.get("/v1/namespaces/a/jobs").expect(401);
      }
    }
    try (Carillon carillon = Carillon.open(url)) {
      JobQuery entries = JobQuery.all().namespace("carillon.audit").limit(1_000);
      assertThat(carillon.list(entries.meta("outcome", "left out")).items()).hasSize(1);
      int denied = carillon.list(entries.meta("outcome", "denied")).items().size();
      int leftOut = 0;
      for (JobInfo entry : carillon.list(entries).items()) {
        JsonNode body = ApiClient.JSON.readTree(carillon.rawInput(entry.id()).bytes());
        leftOut += body.path("leftOutBefore").asInt(0);
      }
      assertThat(denied + leftOut).isEqualTo(400);
    }
  }

  @Test
  void nobodyWritesIntoTheAudit() {
    assertThat(admin.post(AUDIT, "{\"type\": \"t\"}").expect(403).detail())
        .contains("one of the server's own");
    viewer.get(AUDIT).expect(403);
  }
}
