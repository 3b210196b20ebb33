package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import dev.carillon.server.ApiClient.Reply;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Method;
import dev.carillon.server.http.Route;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two namespaces on one server: neither learns of the other's jobs, names, types or values. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IsolationTest {
  private static final String MINE = "/v1/namespaces/mine";
  private static final String CANARY = "canary-of-theirs";
  private static final int ROUNDS = 1_000;

  /** Bodies that go as far as the job, by operation; the others take none. */
  private static final Map<String, String> BODIES =
      Map.of(
          "rescheduleJob", "{\"in\": \"1h\"}",
          "prioritiseJob", "{\"priority\": 3}",
          "backfillJob", "{\"from\": \"2026-01-01T00:00:00Z\", \"to\": \"2026-01-02T00:00:00Z\"}",
          "signalWorkflow", "{\"type\": \"s\"}",
          "putSchedule", "{\"type\": \"t\", \"schedule\": {\"every\": \"1h\"}}");

  private ServerFixture fixture;
  private ApiClient client;
  private String live;
  private String ended;
  private String absent;

  @TempDir private static Path folder;

  @BeforeAll
  void open() {
    fixture =
        ServerFixture.secured(
            Carillon.builder().url("jdbc:sqlite:" + folder.resolve("two-namespaces.db")));
    client = fixture.client.as(fixture.token(Role.ADMIN, "mine"));
    fixture.carillon.handle(TaskType.of(CANARY, String.class), (text, job) -> {});
    try (ApiClient theirs = fixture.client.as(fixture.token(Role.ADMIN, "theirs"))) {
      String jobs = "/v1/namespaces/theirs/jobs";
      live =
          id(
              theirs.post(
                  jobs,
                  "{\"type\": \"%1$s\", \"in\": \"1h\", \"name\": \"%1$s\", \"input\": \"%1$s\"}"
                      .formatted(CANARY)));
      ended = id(theirs.post(jobs, "{\"type\": \"%s\", \"input\": \"\"}".formatted(CANARY)));
      theirs
          .put(
              "/v1/namespaces/theirs/schedules/" + CANARY + "-schedule",
              "{\"type\": \"%s\", \"schedule\": {\"every\": \"1h\"}}".formatted(CANARY))
          .expect(201);
      Awaitility.await()
          .until(
              () ->
                  theirs
                      .get(jobs + "/" + ended)
                      .json()
                      .path("state")
                      .asString()
                      .equals("SUCCEEDED"));
    }
    char last = live.charAt(live.length() - 1);
    absent = live.substring(0, live.length() - 1) + (last == 'v' ? 'u' : 'v');
  }

  private static String id(Reply reply) {
    return reply.expect(201).json().path("id").asString();
  }

  @AfterAll
  void close() {
    client.close();
    fixture.close();
  }

  private Reply ask(Route route, String path) {
    var request = client.request(path);
    return client.send(
        route.method() == Method.GET || route.method() == Method.DELETE
            ? request.method(route.method().name(), BodyPublishers.noBody()).build()
            : request
                .header("Content-Type", "application/json")
                .method(
                    route.method().name(),
                    BodyPublishers.ofString(BODIES.getOrDefault(route.operation(), "{}")))
                .build());
  }

  /** A key, or a name with a key, that a job of a hidden queue has: the job's id is not told. */
  @Test
  void keyOfAJobInAHiddenQueueIsRefusedWithoutTheJob() {
    String jobs = MINE + "/jobs";
    String hidden =
        id(
            client.post(
                jobs, "{\"type\": \"t\", \"in\": \"1h\", \"queue\": \"hidden\", \"key\": \"k\"}"));
    String done =
        id(
            client.post(
                jobs,
                "{\"type\": \"t\", \"in\": \"1h\", \"queue\": \"hidden\", \"name\": \"n\", \"key\": \"n\"}"));
    client.post(jobs + "/" + done + "/cancel", "{}").expect(200);
    try (ApiClient scoped =
        fixture.client.as(fixture.tokenOfQueue(Role.SUBMITTER, "mine", "open"))) {
      String own = "{\"type\": \"t\", \"in\": \"1h\", \"queue\": \"open\", \"key\": \"%s\"%s}";
      for (Reply refused :
          List.of(
              scoped.post(jobs, own.formatted("k", "")),
              scoped.post(jobs, own.formatted("n", ", \"name\": \"n\"")),
              scoped.post(
                  jobs + "/batch",
                  "{\"jobs\": [%s, %s]}"
                      .formatted(own.formatted("fresh", ""), own.formatted("k", ""))))) {
        assertThat(refused.expect(403).json().toString())
            .doesNotContain(hidden, done)
            .contains("key:");
      }
      assertThat(scoped.get(jobs + "/by-key/fresh").status()).isEqualTo(404);
      String first = id(scoped.post(jobs, own.formatted("mine", "")));
      assertThat(
              scoped.post(jobs, own.formatted("mine", "")).expect(200).json().path("id").asString())
          .isEqualTo(first);
    }
  }

  @Test
  void jobOfAnotherNamespaceIsAsOneThatIsNotThere() {
    int routes = 0;
    for (Route route : fixture.server.routes()) {
      if (route.path().contains("{id}")) {
        String path = route.path().replace("{ns}", "mine");
        Reply none = ask(route, path.replace("{id}", absent));
        assertThat(none.status()).as(route.operation()).isEqualTo(404);
        for (String theirs : List.of(live, ended)) {
          Reply foreign = ask(route, path.replace("{id}", theirs));
          assertThat(foreign.status()).as(route.operation()).isEqualTo(404);
          assertThat(foreign.body()).as(route.operation()).isEqualTo(none.body());
          assertThat(foreign.whole().headers().map().keySet())
              .isEqualTo(none.whole().headers().map().keySet());
        }
        routes++;
      }
    }
    assertThat(routes).isGreaterThan(15);
  }

  @Test
  void namesOfAnotherNamespaceAreFreeHere() {
    for (Route route : fixture.server.routes()) {
      if (route.path().contains("/schedules/{name}") && route.method() != Method.PUT) {
        ask(route, route.path().replace("{ns}", "mine").replace("{name}", CANARY + "-schedule"))
            .expect(404);
      }
    }
    client
        .post(
            MINE + "/jobs",
            "{\"type\": \"t\", \"in\": \"1h\", \"name\": \"%s\", \"ifExists\": \"FAIL\"}"
                .formatted(CANARY))
        .expect(201);
    String waits = "{\"type\": \"t\", \"after\": {\"jobs\": [\"%s\"]}}".formatted(live);
    assertThat(client.post(MINE + "/jobs", waits).status()).isEqualTo(400);
  }

  @Test
  void noListEventErrorOrLimitShowsWhatIsInAnotherNamespace() {
    for (Route route : fixture.server.routes()) {
      if (route.method() == Method.GET && route.isOfNamespace() && !route.waits()) {
        // The name itself is free here, and another test takes it.
        Reply reply =
            ask(
                route,
                route
                    .path()
                    .replace("{ns}", "mine")
                    .replaceAll("\\{[a-z]+}", "nothing-of-this-name"));
        assertThat(reply.text())
            .as(route.operation())
            .doesNotContain(CANARY + "-schedule")
            .doesNotContain("\"" + live + "\"")
            .doesNotContain(ended)
            .doesNotContain("\"theirs\"");
      }
    }
    client.get("/metrics").expect(403);
    client.get("/v1/cluster/running").expect(403);
    client.get("/v1/namespaces/theirs/jobs/" + live).expect(403);
  }

  @ParameterizedTest
  @ValueSource(strings = {"live", "ended"})
  void answersForJobsOfAnotherNamespaceTakeAsLongAsForNone(String which) {
    String theirs = MINE + "/jobs/" + (which.equals("live") ? live : ended);
    String none = MINE + "/jobs/" + absent;
    double ratio = 0;
    for (int tries = 0; tries < 4; tries++) {
      ratio = ratio(theirs, none);
      if (Math.abs(ratio - 1) <= 0.1) {
        return;
      }
    }
    assertThat(ratio).as("median of foreign / median of absent").isBetween(0.9, 1.1);
  }

  /** Of medians of {@value #ROUNDS} each, asked in turn so that a busy machine slows both. */
  private double ratio(String a, String b) {
    long[] first = new long[ROUNDS];
    long[] second = new long[ROUNDS];
    for (int i = -200; i < ROUNDS; i++) {
      long took = i % 2 == 0 ? nanos(a) : 0;
      long other = nanos(b);
      took = i % 2 == 0 ? took : nanos(a);
      if (i >= 0) {
        first[i] = took;
        second[i] = other;
      }
    }
    Arrays.sort(first);
    Arrays.sort(second);
    double ratio = (double) first[ROUNDS / 2] / second[ROUNDS / 2];
    System.out.printf(
        "medians: %d and %d µs, ratio %.3f%n",
        first[ROUNDS / 2] / 1000, second[ROUNDS / 2] / 1000, ratio);
    return ratio;
  }

  private long nanos(String path) {
    long begun = System.nanoTime();
    client.get(path);
    return System.nanoTime() - begun;
  }
}
