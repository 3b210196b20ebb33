package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Actions on all jobs that fit a query. */
class BulkRoutesTest {
  private static final String BULK = "/v1/namespaces/default/bulk";
  private static final TaskType<Integer> LATER = TaskType.of("later", Integer.class);
  private static final TaskType<Integer> BROKEN = TaskType.of("broken", Integer.class);
  private static final Duration SOON = Duration.ofSeconds(40);
  private static final int A_BATCH = 10_000;
  private static final int KILLED_WITHIN = 1_200;

  @TempDir Path folder;
  private ServerFixture fixture;

  private String url() {
    return "jdbc:sqlite:" + folder.resolve("jobs.db");
  }

  private ApiClient open() {
    fixture = ServerFixture.on(url());
    return fixture.client;
  }

  @AfterEach
  void close() {
    if (fixture != null) {
      fixture.close();
    }
  }

  private static Job<?> later(int i) {
    return LATER.job(i).in(Duration.ofHours(1));
  }

  private void schedule(int count, String queue) {
    List<Job<?>> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jobs.add(later(i).queue(queue));
      if (jobs.size() == A_BATCH) {
        fixture.carillon.scheduleAll(jobs);
        jobs.clear();
      }
    }
    if (!jobs.isEmpty()) {
      fixture.carillon.scheduleAll(jobs);
    }
  }

  private JsonNode ended(ApiClient client, String id) {
    JsonNode[] last = new JsonNode[1];
    Awaitility.await()
        .atMost(SOON)
        .until(
            () -> {
              last[0] = client.get(BULK + "/" + id).expect(200).json();
              return last[0].has("endedAt");
            });
    return last[0];
  }

  private static String start(ApiClient client, String body) {
    ApiClient.Reply reply = client.post(BULK, body).expect(202);
    String id = reply.json().path("id").asString();
    assertThat(reply.whole().headers().firstValue("location")).hasValue(BULK + "/" + id);
    return id;
  }

  private List<JobInfo> jobs(Predicate<JobInfo> wanted) {
    try (var all = fixture.carillon.stream(JobQuery.all().namespace("default").limit(1_000))) {
      return all.filter(wanted).toList();
    }
  }

  @Test
  void keyOfOneNamespaceIsNoneOfAnother() {
    ApiClient client = open();
    String body = "{\"action\": \"CANCEL\", \"query\": {}}";
    String first =
        client
            .post("/v1/namespaces/a/bulk", body, "Idempotency-Key", "b c")
            .expect(202)
            .json()
            .path("id")
            .asString();
    JsonNode second =
        client.post("/v1/namespaces/a%20b/bulk", body, "Idempotency-Key", "c").expect(202).json();
    assertThat(second.path("created").asBoolean()).isTrue();
    assertThat(second.path("id").asString()).isNotEqualTo(first);
    client.get("/v1/namespaces/a%20b/bulk/" + second.path("id").asString()).expect(200);
  }

  @Test
  void dryRunCountsAndShowsTheFirstTenAndChangesNothing() {
    ApiClient client = open();
    schedule(1_234, "a");
    schedule(5, "b");
    JsonNode counted =
        client
            .post(
                BULK,
                "{\"action\": \"CANCEL\", \"query\": {\"queue\": \"a\", \"type\": \"later\"},"
                    + " \"dryRun\": true}")
            .expect(200)
            .json();
    assertThat(counted.path("count").asInt()).isEqualTo(1_234);
    assertThat(counted.path("complete").asBoolean()).isTrue();
    assertThat(counted.path("first")).hasSize(10);
    assertThat(jobs(job -> job.state() != JobState.SCHEDULED)).isEmpty();
    assertThat(client.get(BULK).expect(200).json().path("items")).isEmpty();
  }

  @Test
  void actionTakesAllThatFitAndNothingElse() {
    ApiClient client = open();
    schedule(1_234, "a");
    schedule(5, "b");
    JobId elsewhere = fixture.carillon.schedule(later(1).queue("a").namespace("other")).id();
    String id =
        start(
            client,
            "{\"action\": \"CANCEL\", \"query\": {\"queue\": \"a\"}, \"reason\": \"gone\"}");
    JsonNode status = ended(client, id);
    assertThat(status.path("state").asString()).isEqualTo("SUCCEEDED");
    assertThat(status.path("done").asInt()).isEqualTo(1_234);
    assertThat(status.path("unchanged").asInt()).isZero();
    assertThat(status.path("complete").asBoolean()).isTrue();
    assertThat(status.path("by").asString()).isEqualTo("local");
    List<JobInfo> cancelled = jobs(job -> job.state() == JobState.CANCELLED);
    assertThat(cancelled).hasSize(1_234).allMatch(job -> "gone".equals(job.reason()));
    assertThat(cancelled).allMatch(job -> job.queue().equals("a"));
    assertThat(jobs(job -> job.state() == JobState.SCHEDULED)).hasSize(5);
    assertThat(fixture.carillon.get(elsewhere).orElseThrow().state()).isEqualTo(JobState.SCHEDULED);
    assertThat(client.get(BULK).expect(200).json().path("items")).hasSize(1);
    client.get("/v1/namespaces/other/bulk/" + id).expect(404);
  }

  @Test
  void everyActionHasItsEffect() {
    ApiClient client = open();
    schedule(3, "a");
    Instant due = Instant.parse("2036-01-01T00:00:00Z");
    ended(client, start(client, "{\"action\": \"PRIORITISE\", \"query\": {}, \"priority\": 7}"));
    ended(
        client,
        start(client, "{\"action\": \"RESCHEDULE\", \"query\": {}, \"at\": \"" + due + "\"}"));
    ended(
        client, start(client, "{\"action\": \"PAUSE\", \"query\": {}, \"reason\": \"stocktake\"}"));
    assertThat(jobs(job -> true))
        .hasSize(3)
        .allMatch(job -> job.priority() == 7 && job.dueAt().equals(due))
        .allMatch(job -> job.state() == JobState.PAUSED);
    ended(client, start(client, "{\"action\": \"RESUME\", \"query\": {\"state\": [\"PAUSED\"]}}"));
    assertThat(jobs(job -> job.state() == JobState.SCHEDULED)).hasSize(3);
    ended(client, start(client, "{\"action\": \"TERMINATE\", \"query\": {}}"));
    assertThat(jobs(job -> job.state() == JobState.CANCELLED)).hasSize(3);
  }

  @Test
  void deadLettersAreReplayedAndDiscarded() {
    ApiClient client = open();
    AtomicBoolean mended = new AtomicBoolean();
    fixture.carillon.handle(
        BROKEN,
        (input, job) -> {
          if (!mended.get()) {
            throw new IllegalStateException("broken");
          }
        });
    for (int i = 0; i < 3; i++) {
      fixture.carillon.schedule(
          BROKEN.job(i).onFailure(FailurePolicy.constant(Duration.ofMillis(1), 0)));
    }
    Awaitility.await().atMost(SOON).until(() -> jobs(j -> j.state() == JobState.DEAD).size() == 3);
    JsonNode again =
        ended(client, start(client, "{\"action\": \"REPLAY\", \"query\": {\"type\": \"broken\"}}"));
    assertThat(again.path("done").asInt()).isEqualTo(3);
    Awaitility.await().atMost(SOON).until(() -> jobs(j -> j.state() == JobState.DEAD).size() == 3);
    JsonNode gone = ended(client, start(client, "{\"action\": \"DISCARD\", \"query\": {}}"));
    assertThat(gone.path("done").asInt()).isEqualTo(3);
    assertThat(jobs(job -> job.state() == JobState.DEAD)).isEmpty();
  }

  @Test
  void cancelledActionStopsAndTellsWhatItHasDone() {
    ApiClient client = open();
    schedule(2 * A_BATCH, "a");
    String id = start(client, "{\"action\": \"PRIORITISE\", \"query\": {}, \"priority\": 1}");
    Awaitility.await()
        .pollInterval(Duration.ofMillis(5))
        .atMost(SOON)
        .until(() -> client.get(BULK + "/" + id).expect(200).json().path("done").asInt() > 0);
    client.post(BULK + "/" + id + "/cancel", "{\"reason\": \"wrong queue\"}").expect(200);
    JsonNode status = ended(client, id);
    assertThat(status.path("stopped").asBoolean()).isTrue();
    assertThat(status.path("complete").asBoolean()).isFalse();
    int done = status.path("done").asInt();
    assertThat(done).isBetween(1, 2 * A_BATCH - 1);
    int changed = jobs(job -> job.priority() == 1).size();
    assertThat(changed).isBetween(done, done + 200);
  }

  @Test
  void sameKeyIsTheSameAction() {
    ApiClient client = open();
    String body = "{\"action\": \"CANCEL\", \"query\": {}}";
    JsonNode first = client.post(BULK, body, "Idempotency-Key", "k").expect(202).json();
    JsonNode second = client.post(BULK, body, "Idempotency-Key", "k").expect(202).json();
    assertThat(second.path("id")).isEqualTo(first.path("id"));
    assertThat(second.path("created").asBoolean()).isFalse();
    JsonNode other =
        client.post("/v1/namespaces/other/bulk", body, "Idempotency-Key", "k").expect(202).json();
    assertThat(other.path("id")).isNotEqualTo(first.path("id"));
  }

  @Test
  void keyOfAnotherActionIsRefused() {
    ApiClient client = open();
    String cancel = "{\"action\": \"CANCEL\", \"query\": {\"type\": \"x\"}}";
    JsonNode first = client.post(BULK, cancel, "Idempotency-Key", "k").expect(202).json();
    for (String other :
        List.of(
            "{\"action\": \"PAUSE\", \"query\": {\"type\": \"x\"}}",
            "{\"action\": \"CANCEL\", \"query\": {\"type\": \"y\"}}",
            "{\"action\": \"CANCEL\", \"query\": {\"type\": \"x\"}, \"reason\": \"r\"}",
            "{\"action\": \"CANCEL\", \"query\": {\"type\": \"x\", \"state\": [\"PAUSED\"]}}")) {
      ApiClient.Reply refused = client.post(BULK, other, "Idempotency-Key", "k").expect(409);
      assertThat(refused.detail()).contains("Idempotency-Key", "CANCEL", "expected: a new key");
      assertThat(refused.json().path("existing")).isEqualTo(first.path("id"));
    }
    String same = "{\"query\":{\"type\":\"x\"},\"action\":\"CANCEL\",\"dryRun\":false}";
    assertThat(client.post(BULK, same, "Idempotency-Key", "k").expect(202).json().path("id"))
        .isEqualTo(first.path("id"));
  }

  @Test
  void badActionsAreRefusedBeforeAnythingIsDone() {
    ApiClient client = open();
    record Case(String body, String expected) {}
    for (Case each :
        List.of(
            new Case("{}", "action: missing (expected: one of [CANCEL"),
            new Case("{\"action\": \"CANCEL\"}", "query: missing (expected: which jobs"),
            new Case("{\"action\": \"TRIGGER\", \"query\": {}}", "action: \"TRIGGER\""),
            new Case("{\"action\": \"CANCEL\", \"query\": {\"tpye\": 1}}", "query.tpye: unknown"),
            new Case(
                "{\"action\": \"REPLAY\", \"query\": {\"state\": [\"PAUSED\"]}}",
                "query.state: PAUSED (expected for REPLAY: one of [DEAD])"),
            new Case(
                "{\"action\": \"CANCEL\", \"query\": {\"state\": [\"DEAD\"]}}",
                "query.state: DEAD (expected for CANCEL"),
            new Case("{\"action\": \"RESCHEDULE\", \"query\": {}}", "at: missing"),
            new Case(
                "{\"action\": \"RESUME\", \"query\": {}, \"reason\": \"x\"}", "reason: given"))) {
      assertThat(client.post(BULK, each.body()).expect(400).detail())
          .as(each.body())
          .contains(each.expected());
    }
    assertThat(client.get(BULK).expect(200).json().path("items")).isEmpty();
    assertThat(
            client.post("/v1/namespaces/carillon/jobs", "{\"type\": \"t\"}").expect(400).detail())
        .contains("expected: not the server's own");
  }

  @Test
  void actionThatIsKilledInBetweenGoesOnWhereItWas() throws Exception {
    open();
    schedule(KILLED_WITHIN, "a");
    schedule(5, "b");
    fixture.close();
    fixture = null;
    String id = startedAndKilled();
    ApiClient client = open();
    JsonNode status = ended(client, id);
    assertThat(status.path("state").asString()).isEqualTo("SUCCEEDED");
    assertThat(status.path("complete").asBoolean()).isTrue();
    assertThat(status.path("done").asInt() + status.path("unchanged").asInt())
        .isBetween(KILLED_WITHIN - 200, KILLED_WITHIN);
    assertThat(jobs(job -> job.state() == JobState.CANCELLED))
        .hasSize(KILLED_WITHIN)
        .allMatch(job -> job.queue().equals("a"));
    assertThat(jobs(job -> job.state() == JobState.SCHEDULED)).hasSize(5);
  }

  /** Begins a bulk cancel in another process, and kills that within it. */
  private String startedAndKilled() throws Exception {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                ServingChild.class.getName(),
                url())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (HttpClient http = HttpClient.newHttpClient();
        BufferedReader out =
            new BufferedReader(
                new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
      String base = "http://127.0.0.1:" + out.readLine() + BULK;
      String id =
          send(
                  http,
                  HttpRequest.newBuilder(URI.create(base))
                      .header("Content-Type", "application/json")
                      .POST(
                          HttpRequest.BodyPublishers.ofString(
                              "{\"action\": \"CANCEL\", \"query\": {\"queue\": \"a\"}}"))
                      .build())
              .path("id")
              .asString();
      HttpRequest look = HttpRequest.newBuilder(URI.create(base + "/" + id)).build();
      JsonNode status;
      do {
        status = send(http, look);
      } while (status.path("done").asInt() == 0);
      assertThat(status.has("endedAt")).isFalse();
      return id;
    } finally {
      child.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
    }
  }

  private static JsonNode send(HttpClient http, HttpRequest request) throws Exception {
    return ApiClient.JSON.readTree(http.send(request, BodyHandlers.ofByteArray()).body());
  }
}
