package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.access.Role;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** People who typed a token: their cookie, and what it does not let others do. */
class SessionRoutesTest {
  private static final String SESSION = "/v1/session";
  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final String JOB = "{\"type\": \"t\", \"in\": \"1h\"}";

  private static ApiClient.Reply begin(ServerFixture fixture, String token, String... headers) {
    HttpRequest.Builder request =
        fixture
            .client
            .request(SESSION)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"token\": \"" + token + "\"}"));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return fixture.client.send(request.build());
  }

  private static String cookie(ApiClient.Reply reply) {
    return reply.whole().headers().firstValue("set-cookie").orElseThrow();
  }

  private static ApiClient.Reply get(ServerFixture fixture, String path, String cookie) {
    return fixture.client.send(fixture.client.request(path).header("Cookie", cookie).GET().build());
  }

  private static ApiClient.Reply post(ServerFixture fixture, String cookie, String... headers) {
    HttpRequest.Builder request =
        fixture
            .client
            .request(JOBS)
            .header("Cookie", cookie)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(JOB));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return fixture.client.send(request.build());
  }

  @Test
  void typedTokenIsInACookieThatOnlyPagesOfThisServerUse() {
    try (ServerFixture fixture = ServerFixture.secured(Carillon.builder().inMemory())) {
      assertThat(fixture.client.get(SESSION).expect(200).json().path("tokens").asBoolean())
          .isTrue();
      String token = fixture.token(Role.ADMIN, "*");
      String set = cookie(begin(fixture, token, "Carillon-Page", "1").expect(200));
      assertThat(set)
          .startsWith("carillon-token=")
          .contains("; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200")
          .doesNotContain("Secure", token, token.substring(token.lastIndexOf('_') + 1));
      String session = set.substring(0, set.indexOf(';'));
      assertThat(
              get(fixture, "/v1/namespaces/default/access", session)
                  .expect(200)
                  .json()
                  .path("role")
                  .asString())
          .isEqualTo("admin");
      post(fixture, session).expect(403);
      post(fixture, session, "Carillon-Page", "1").expect(201);
      get(fixture, JOBS, session + "x").expect(401);
      get(fixture, JOBS, "carillon-token=").expect(401);
      begin(fixture, token).expect(403); // nobody is signed in as somebody else from elsewhere
      begin(fixture, token + "x", "Carillon-Page", "1").expect(401);
      begin(fixture, "", "Carillon-Page", "1").expect(400);
      String over =
          cookie(begin(fixture, token, "Carillon-Page", "1", "X-Forwarded-Proto", "https"));
      assertThat(over).endsWith("; Secure");
      String id = token.split("_", -1)[1];
      fixture
          .client
          .send(
              fixture
                  .client
                  .request("/v1/tokens/" + id + "/revoke")
                  .header("Cookie", session)
                  .header("Carillon-Page", "1")
                  .header("Content-Type", "application/json")
                  .POST(BodyPublishers.ofString("{}"))
                  .build())
          .expect(200);
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> get(fixture, JOBS, session).status() == 401);
      String ended =
          cookie(fixture.client.send(fixture.client.request(SESSION).DELETE().build()).expect(204));
      assertThat(ended).startsWith("carillon-token=; ").contains("Max-Age=0");
    }
  }

  @Test
  void serverWithoutTokensHasNoSessions() {
    try (ServerFixture fixture = ServerFixture.on(Carillon.builder().inMemory())) {
      assertThat(fixture.client.get(SESSION).expect(200).json().path("tokens").asBoolean())
          .isFalse();
      begin(fixture, "crl_x_y", "Carillon-Page", "1").expect(404);
    }
  }
}
