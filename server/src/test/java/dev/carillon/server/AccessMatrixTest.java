package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.access.Role;
import dev.carillon.server.access.Scope;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.http.Method;
import dev.carillon.server.http.Route;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Every operation of the table, asked by everybody: each role in the namespace, in another one and
 * in all; a token of another queue; tokens that are expired, revoked, of another secret, of no
 * form; no token. What is expected follows from the table alone, so that a new route stands here by
 * itself.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AccessMatrixTest {
  private static final String OWN = "own";
  private static final String QUEUE = "own-queue";

  private ServerFixture fixture;
  private Tokens tokens;
  private HttpClient http;
  private final Map<String, Asker> askers = new LinkedHashMap<>();

  /** Who asks: a token, and what it may. */
  private record Asker(String header, boolean known, Role role, Scope namespaces, Scope queues) {}

  @BeforeAll
  void open() {
    fixture = ServerFixture.secured(Carillon.builder().inMemory());
    tokens = new Tokens(fixture.carillon.node().sharedRecords(Tokens.AREA));
    http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    Scope own = Scope.of(List.of(OWN));
    for (Role role : Role.values()) {
      if (role != Role.ANYONE) {
        add(role + " here", role, own, Scope.ALL);
        add(role + " elsewhere", role, Scope.of(List.of("other", "own2", "ow")), Scope.ALL);
        add(role + " everywhere", role, Scope.ALL, Scope.ALL);
        add(role + " here, this queue", role, own, Scope.of(List.of(QUEUE)));
        add(role + " everywhere, this queue", role, Scope.ALL, Scope.of(List.of(QUEUE)));
        add(role + " everywhere, other queue", role, Scope.ALL, Scope.of(List.of("other")));
      }
    }
    Tokens.Issued expired = issue(Role.ADMIN, Scope.ALL, Scope.ALL, Instant.now().plusMillis(300));
    Tokens.Issued revoked = issue(Role.ADMIN, Scope.ALL, Scope.ALL, null);
    String living = issue(Role.ADMIN, Scope.ALL, Scope.ALL, null).text().text();
    tokens.revoke(revoked.text().id(), "the test", Instant.now());
    unknown("none", "");
    unknown("expired", "Bearer " + expired.text().text());
    unknown("revoked", "Bearer " + revoked.text().text());
    unknown("other secret", "Bearer " + living.substring(0, 17) + "a".repeat(52));
    unknown("no form", "Bearer root");
    unknown("other scheme", "Basic " + living);
    org.awaitility.Awaitility.await().until(() -> Instant.now().isAfter(expired.token().expires()));
  }

  private Tokens.Issued issue(Role role, Scope namespaces, Scope queues, Instant expires) {
    return tokens.create(
        new Tokens.Wanted("matrix", role, namespaces, queues, expires), "the test", Instant.now());
  }

  private void add(String name, Role role, Scope namespaces, Scope queues) {
    String token = issue(role, namespaces, queues, null).text().text();
    askers.put(name, new Asker("Bearer " + token, true, role, namespaces, queues));
  }

  private void unknown(String name, String header) {
    askers.put(name, new Asker(header, false, Role.ANYONE, Scope.ALL, Scope.ALL));
  }

  @AfterAll
  void close() {
    http.close();
    fixture.close();
  }

  /** 401, 403 or 0 for any answer that is neither, and no failure. */
  private static int expected(Route route, Asker asker) {
    if (route.role() == Role.ANYONE) {
      return 0;
    }
    if (!asker.known()) {
      return 401;
    }
    boolean where = route.isOfNamespace() ? asker.namespaces().has(OWN) : asker.namespaces().all();
    boolean queue =
        asker.queues().all()
            || route.looksAtQueues()
            || (route.path().contains("{queue}") && asker.queues().has(QUEUE));
    return asker.role().includes(route.role()) && where && queue ? 0 : 403;
  }

  @Test
  void everyOperationIsForThoseWhoMayAndForNobodyElse() throws Exception {
    List<String> wrong = new ArrayList<>();
    int asked = 0;
    for (Route route : fixture.server.routes()) {
      for (Map.Entry<String, Asker> asker : askers.entrySet()) {
        int status = ask(route, asker.getValue());
        int expected = expected(route, asker.getValue());
        boolean right =
            expected != 0 ? status == expected : status != 401 && status != 403 && status < 500;
        if (!right) {
          wrong.add(
              "%s by %s: %d (expected: %s)"
                  .formatted(
                      route.operation(),
                      asker.getKey(),
                      status,
                      expected == 0 ? "let in" : expected));
        }
        asked++;
      }
    }
    System.out.printf(
        "access matrix: %d operations, %d callers, %d requests, %d wrong%n",
        fixture.server.routes().size(), askers.size(), asked, wrong.size());
    assertThat(wrong).isEmpty();
    assertThat(asked).isGreaterThan(1_000);
  }

  private int ask(Route route, Asker asker) throws Exception {
    String path =
        route
            .path()
            .replace("{ns}", OWN)
            .replace("{queue}", QUEUE)
            .replaceAll("\\{[a-z]+}", "nothing-of-this-name");
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + fixture.server.address().getPort() + path))
            .timeout(Duration.ofSeconds(20))
            .header("Content-Type", "application/json")
            .method(
                route.method().name(),
                route.method() == Method.GET || route.method() == Method.DELETE
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofString("{\"no-such-field\": 1}")); // let in, and no further
    if (!asker.header().isEmpty()) {
      request.header("Authorization", asker.header());
    }
    HttpResponse<InputStream> answer = http.send(request.build(), BodyHandlers.ofInputStream());
    answer.body().close(); // some go on for ever
    return answer.statusCode();
  }

  @Test
  void namespacesOfTheServersOwnAreForAdminsToLookAt() throws Exception {
    for (Route route : fixture.server.routes()) {
      if (route.isOfNamespace()) {
        String path = route.path().replace("{ns}", "carillon.audit");
        Route reserved =
            new Route(
                route.operation(),
                route.method(),
                path,
                route.role(),
                route.query(),
                route.body(),
                route.looksAtQueues(),
                route.waits(),
                route.handler());
        int admin = ask(reserved, askers.get("ADMIN everywhere"));
        int operator = ask(reserved, askers.get("OPERATOR everywhere"));
        assertThat(operator).as(route.operation()).isEqualTo(403);
        if (route.method() == Method.GET) {
          assertThat(admin).as(route.operation()).isNotIn(401, 403);
        } else {
          assertThat(admin).as(route.operation()).isEqualTo(403);
        }
      }
    }
  }

  @Test
  void everyOperationButProbesNeedsARole() {
    assertThat(fixture.server.routes())
        .filteredOn(route -> route.role() == Role.ANYONE)
        .extracting(Route::operation)
        .containsExactlyInAnyOrder(
            "getLiveness",
            "getReadiness",
            "getDescription",
            "goToDashboard",
            "getDashboard",
            "getDashboardFile",
            "beginLogin",
            "endLogin",
            "logout",
            "getSession",
            "beginSession",
            "endSession");
  }
}
