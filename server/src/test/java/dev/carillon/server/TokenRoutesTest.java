package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.access.Role;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Tokens over HTTP: made, used at once, rotated, revoked while in use. */
class TokenRoutesTest {
  private static final String JOBS = "/v1/namespaces/a/jobs";

  private ServerFixture fixture;
  private ApiClient admin;

  @BeforeEach
  void open() {
    fixture = ServerFixture.secured(Carillon.builder().inMemory());
    admin = fixture.client.as(fixture.token(Role.ADMIN, "*"));
  }

  @AfterEach
  void close() {
    admin.close();
    fixture.close();
  }

  private JsonNode create(String more) {
    return admin
        .post("/v1/tokens", "{\"name\": \"ci\", \"role\": \"submitter\", " + more + "}")
        .expect(201)
        .json();
  }

  @Test
  void tokenCountsAsSoonAsItIsMade() {
    JsonNode issued = create("\"namespaces\": [\"a\"], \"expiresIn\": \"1h\"");
    try (ApiClient client = fixture.client.as(issued.path("secret").asString())) {
      client.post(JOBS, "{\"type\": \"t\", \"in\": \"1h\"}").expect(201);
      client.get("/v1/namespaces/b/jobs").expect(403);
      assertThat(client.get("/v1/tokens").expect(403).detail())
          .isEqualTo("role: not enough (expected: admin of all namespaces)");
    }
    JsonNode listed = admin.get("/v1/tokens").expect(200).json().path("items");
    assertThat(listed).hasSize(2);
    assertThat(listed.toString()).doesNotContain("secret").contains("\"createdBy\":\"test/");
  }

  @Test
  void requestsWithoutATokenAreRefusedButForProbes() {
    try (ApiClient nobody = fixture.client.as(null)) {
      ApiClient.Reply refused = nobody.get(JOBS).expect(401);
      assertThat(refused.problem()).isEqualTo("unauthenticated");
      assertThat(refused.whole().headers().firstValue("www-authenticate")).hasValue("Bearer");
      nobody.get("/health/live").expect(200);
      nobody.get("/health/ready").expect(200);
      nobody.get("/openapi.yaml").expect(200);
      nobody.get("/metrics").expect(401);
    }
  }

  @Test
  void wrongBodiesAreToldSo() {
    for (String body :
        new String[] {
          "{}",
          "{\"name\": \"ci\", \"role\": \"anyone\", \"namespaces\": [\"*\"]}",
          "{\"name\": \"ci\", \"role\": \"VIEWER\", \"namespaces\": [\"*\"]}",
          "{\"name\": \"c i\", \"role\": \"viewer\", \"namespaces\": [\"*\"]}",
          "{\"name\": \"ci\", \"role\": \"viewer\", \"namespaces\": []}",
          "{\"name\": \"ci\", \"role\": \"viewer\", \"namespaces\": [\"*\", \"a\"]}",
          "{\"name\": \"ci\", \"role\": \"viewer\", \"namespaces\": [\"\"]}",
          "{\"name\": \"ci\", \"role\": \"viewer\", \"namespaces\": [\"a\"], \"queues\": []}",
          "{\"name\": \"ci\", \"role\": \"viewer\", \"namespaces\": [\"a\"],"
              + " \"expiresAt\": \"2020-01-01T00:00:00Z\"}",
        }) {
      assertThat(admin.post("/v1/tokens", body).expect(400).detail()).contains("expected: ");
    }
    admin.post("/v1/tokens/nosuch/revoke", "{}").expect(404);
    admin.post("/v1/tokens/nosuch/rotate", "{}").expect(404);
    admin.post("/v1/tokens/nosuch/rotate", "{\"overlap\": \"91d\"}").expect(400);
  }

  @Test
  void rotationKeepsTheFormerSecretForTheOverlap() {
    JsonNode issued = create("\"namespaces\": [\"a\"]");
    String id = issued.path("token").path("id").asString();
    JsonNode rotated =
        admin.post("/v1/tokens/" + id + "/rotate", "{\"overlap\": \"1h\"}").expect(200).json();
    assertThat(rotated.path("token").has("formerSecretUntil")).isTrue();
    try (ApiClient former = fixture.client.as(issued.path("secret").asString());
        ApiClient fresh = fixture.client.as(rotated.path("secret").asString())) {
      Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> fresh.get(JOBS).status() == 200);
      former.get(JOBS).expect(200);
    }
  }

  @Test
  void tokenRevokedWhileItWaitsIsRefused() {
    JsonNode issued = create("\"namespaces\": [\"a\"]");
    String id = issued.path("token").path("id").asString();
    try (ApiClient client = fixture.client.as(issued.path("secret").asString())) {
      String job =
          client
              .post(JOBS, "{\"type\": \"t\", \"in\": \"1h\"}")
              .expect(201)
              .json()
              .path("id")
              .asString();
      var waiting =
          java.util.concurrent.CompletableFuture.supplyAsync(
              () -> client.get(JOBS + "/" + job + "/result?wait=8s"));
      Awaitility.await().until(() -> fixture.server.streams() > 0);
      JsonNode revoked = admin.post("/v1/tokens/" + id + "/revoke", "{}").expect(200).json();
      assertThat(revoked.path("revokedBy").asString()).startsWith("test/");
      Awaitility.await()
          .atMost(Duration.ofSeconds(5))
          .until(() -> client.get(JOBS).status() == 401);
      waiting.join().expect(401);
    }
  }
}
