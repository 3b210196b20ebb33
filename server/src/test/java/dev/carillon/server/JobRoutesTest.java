package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.RawPayload;
import dev.carillon.api.JobId;
import dev.carillon.api.JobType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.server.ApiClient.Reply;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Scheduling, looking and cancelling over HTTP, on SQLite and PostgreSQL. */
class JobRoutesTest {
  private static final String JOBS = "/v1/namespaces/default/jobs";

  @TempDir Path folder;
  private ServerFixture fixture;

  private ApiClient open(String store) {
    fixture =
        ServerFixture.on(
            store.equals("sqlite")
                ? "jdbc:sqlite:" + folder.resolve("jobs.db")
                : PostgresServer.shared().url() + "&carillon.schema=server_jobs");
    return fixture.client;
  }

  @AfterEach
  void close() {
    if (fixture != null) {
      fixture.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgres"})
  void scheduledJobIsFoundListedAndCancelled(String store) {
    ApiClient client = open(store);
    Reply scheduled =
        client
            .post(
                JOBS,
                """
                {"type": "send-mail", "input": {"to": "you",  "n": 1.50}, "in": "1h",
                 "queue": "mail", "priority": 5, "metadata": {"tenant": "a b"},
                 "onFailure": {"kind": "CONSTANT", "interval": "10s", "maxRetries": 3},
                 "concurrency": {"key": "you"}, "timeout": "PT30S"}
                """)
            .expect(201);
    String id = scheduled.json().path("id").asString();
    assertThat(scheduled.json().path("created").asBoolean()).isTrue();
    assertThat(scheduled.whole().headers().firstValue("location")).hasValue(JOBS + "/" + id);

    JsonNode job = client.get(JOBS + "/" + id).expect(200).json();
    assertThat(job.path("state").asString()).isEqualTo("SCHEDULED");
    assertThat(job.path("queue").asString()).isEqualTo("mail");
    assertThat(job.path("priority").asInt()).isEqualTo(5);
    assertThat(job.path("timeout").asString()).isEqualTo("PT30S");
    assertThat(job.path("metadata").path("tenant").asString()).isEqualTo("a b");
    RawPayload stored = fixture.carillon.rawInput(new JobId(id));
    assertThat(stored.codec()).isEqualTo("json");
    assertThat(new String(stored.bytes(), StandardCharsets.UTF_8))
        .isEqualTo("{\"to\": \"you\",  \"n\": 1.50}");

    JsonNode page =
        client.get(JOBS + "?type=send-mail&state=SCHEDULED&meta.tenant=a%20b").expect(200).json();
    assertThat(page.path("items").get(0).path("id").asString()).isEqualTo(id);
    assertThat(client.get(JOBS + "?meta.tenant=other").expect(200).json().path("items")).isEmpty();

    assertThat(
            client
                .post(JOBS + "/" + id + "/cancel", "{\"reason\": \"left\"}")
                .expect(200)
                .json()
                .path("result")
                .asString())
        .isEqualTo("CANCELLED");
    Reply again = client.post(JOBS + "/" + id + "/cancel", "").expect(200);
    assertThat(again.json().path("outcome").asString()).isEqualTo("CANCELLED");
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgres"})
  void sameKeyIsTheSameJob(String store) {
    ApiClient client = open(store);
    String body = "{\"type\": \"t\", \"in\": \"1h\"}";
    JsonNode first = client.post(JOBS, body, "Idempotency-Key", "k1").expect(201).json();
    JsonNode second = client.post(JOBS, body, "Idempotency-Key", "k1").expect(200).json();
    assertThat(second.path("id").asString()).isEqualTo(first.path("id").asString());
    assertThat(second.path("created").asBoolean()).isFalse();
    Reply other = client.post(JOBS, "{\"type\":\"t\",\"key\":\"k2\"}", "Idempotency-Key", "k1");
    assertThat(other.expect(400).detail()).contains("Idempotency-Key");
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgres"})
  void takenNameNamesTheJobThatHasIt(String store) {
    ApiClient client = open(store);
    String body = "{\"type\": \"t\", \"in\": \"1h\", \"name\": \"a/b c|@\"}";
    String id = client.post(JOBS, body).expect(201).json().path("id").asString();
    Reply taken = client.post(JOBS, body).expect(409);
    assertThat(taken.problem()).isEqualTo("name-taken");
    assertThat(taken.json().path("existing").asString()).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgres"})
  void jobIsFoundByItsNameAndByItsKey(String store) {
    ApiClient client = open(store);
    String named = "{\"type\": \"t\", \"in\": \"1h\", \"name\": \"a/b c|@\", \"key\": \"k2\"}";
    String id = client.post(JOBS, named).expect(201).json().path("id").asString();
    String byName = JOBS + "/by-name/a%2Fb%20c%7C%40";
    Reply found = client.get(byName).expect(200);
    assertThat(found.json().path("id").asString()).isEqualTo(id);
    assertThat(found.whole().headers().firstValue("content-location")).hasValue(JOBS + "/" + id);
    client.get("/v1/namespaces/other/jobs/by-name/a%2Fb%20c%7C%40").expect(404);
    client.get(JOBS + "/by-name/b").expect(404);
    client.get(JOBS + "/by-key/k2").expect(404); // it is found by its name

    String keyed = "{\"type\": \"t\", \"in\": \"1h\"}";
    String other =
        client.post(JOBS, keyed, "Idempotency-Key", "k 1").expect(201).json().path("id").asString();
    String byKey = JOBS + "/by-key/k%201";
    assertThat(client.get(byKey).expect(200).json().path("id").asString()).isEqualTo(other);
    client.get("/v1/namespaces/other/jobs/by-key/k%201").expect(404);
    client.get(JOBS + "/by-key/k").expect(404);

    client.post(JOBS + "/" + id + "/cancel", "").expect(200);
    client.post(JOBS + "/" + other + "/cancel", "").expect(200);
    client.get(byName).expect(404);
    assertThat(client.get(byKey).expect(200).json().path("state").asString())
        .isEqualTo("CANCELLED");
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgres"})
  void jobOfAnotherNamespaceIsNotThere(String store) {
    ApiClient client = open(store);
    String id =
        client
            .post("/v1/namespaces/one/jobs", "{\"type\": \"t\", \"in\": \"1h\"}")
            .expect(201)
            .json()
            .path("id")
            .asString();
    Reply missing = client.get("/v1/namespaces/two/jobs/no-such-job").expect(404);
    for (String path : List.of("/" + id, "/no-such-job")) {
      Reply reply = client.get("/v1/namespaces/two/jobs" + path).expect(404);
      assertThat(reply.body()).isEqualTo(missing.body());
      assertThat(client.post("/v1/namespaces/two/jobs" + path + "/cancel", "").expect(404).body())
          .isEqualTo(missing.body());
    }
    Reply after =
        client.post(
            "/v1/namespaces/two/jobs", "{\"type\": \"t\", \"after\": [{\"job\": \"" + id + "\"}]}");
    assertThat(after.expect(400).detail()).contains("expected: an id of this namespace");
    client.get("/v1/namespaces/one/jobs/" + id).expect(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite"})
  void storedBytesPassThroughToHandlersAndBack(String store) throws Exception {
    ApiClient client = open(store);
    List<RawPayload> seen = new ArrayList<>();
    JobType<RawPayload, RawPayload> echo = JobType.of("echo", RawPayload.class, RawPayload.class);
    fixture.carillon.handle(
        echo,
        (input, job) -> {
          seen.add(input);
          return input;
        });
    String id =
        client
            .post(JOBS, "{\"type\": \"echo\", \"inputBase64\": \"AQID\", \"inputCodec\": \"avro\"}")
            .expect(201)
            .json()
            .path("id")
            .asString();
    RawPayload result =
        fixture.carillon.result(new JobId(id), echo.output(), java.time.Duration.ofSeconds(20));
    assertThat(result.codec()).isEqualTo("avro");
    assertThat(result.bytes()).containsExactly(1, 2, 3);
    assertThat(seen).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite"})
  void badBodiesAreNamedWithTheirPath(String store) {
    ApiClient client = open(store);
    record Case(String body, String expected) {}
    for (Case each :
        List.of(
            new Case("", "type: missing"),
            new Case("[]", "body: a list (expected: an object)"),
            new Case("{\"type\": \"t\"} {}", "more than one value"),
            new Case("{\"type\": \"t\", \"tpye\": 1}", "tpye: unknown field (expected: one of"),
            new Case("{\"type\": \"t\", \"type\": \"u\"}", "no field twice"),
            new Case("{\"type\": 5}", "type: 5 (expected: a text)"),
            new Case("{\"type\": \"\"}", "type: \"\" (expected: not blank)"),
            new Case("{\"type\": \"t\", \"priority\": 1.5}", "priority: 1.5 (expected: a whole"),
            new Case("{\"type\": \"t\", \"priority\": 101}", "priority: 101 (expected: -100"),
            new Case("{\"type\": \"t\", \"priority\": 99999999999999999999}", "body: "),
            new Case(
                "{\"type\": \"t\", \"at\": \"soon\"}", "at: \"soon\" (expected: a time by RFC"),
            new Case("{\"type\": \"t\", \"in\": \"-1s\"}", "in: \"-1s\" (expected: a duration"),
            new Case("{\"type\": \"t\", \"schedule\": {\"cron\": \"x\"}}", "cron"),
            new Case("{\"type\": \"t\", \"schedule\": {}}", "0 of cron, every and afterEach"),
            new Case("{\"type\": \"t\", \"after\": [{\"nme\": 1}]}", "after[0].nme: unknown field"),
            new Case(
                "{\"type\": \"t\", \"onFailure\": {\"kind\": \"NO\"}}", "onFailure.kind: \"NO\""),
            new Case("{\"type\": \"t\", \"inputBase64\": \"%\"}", "inputBase64: not base64"),
            new Case("{\"type\": \"t\", \"input\": " + "[".repeat(80), "nested up to 64 deep"),
            new Case("{\"type\": \"t\", \"input\": tru}", "body: "),
            new Case("{\"type\": \"\\ud800\"}", "(expected: no unpaired surrogates)"),
            new Case(
                "{\"webhook\": {\"url\": \"http://x.example/\", \"bodyText\": \"\\udc00\"}}",
                "webhook.bodyText: \"?\" (expected: no unpaired surrogates)"),
            new Case("{\"in\": \"" + "a".repeat(79) + "😀\"}", "a".repeat(79) + "…"))) {
      Reply reply = client.post(JOBS, each.body()).expect(400);
      assertThat(reply.problem()).isEqualTo("invalid");
      assertThat(reply.detail()).as(each.body()).contains(each.expected());
    }
    assertThat(client.get(JOBS).expect(200).json().path("items")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE"})
  void bodyOfAnotherEncodingIsRefused(String encoding) {
    ApiClient client = open("sqlite");
    byte[] body = "{\"type\": \"t\", \"input\": {\"a\": 1}}".getBytes(Charset.forName(encoding));
    Reply reply =
        client.send(
            client
                .request(JOBS)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(body))
                .build());
    assertThat(reply.expect(400).detail()).contains("expected: JSON in UTF-8");
    assertThat(client.get(JOBS).expect(200).json().path("items")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite"})
  void byteOrderMarkOfUtf8IsNoPartOfTheBody(String store) {
    ApiClient client = open(store);
    String body = "{\"type\": \"t\", \"in\": \"1h\", \"input\": {\"a\": \"é\"}}";
    String id = client.post(JOBS, "\ufeff" + body).expect(201).json().path("id").asString();
    assertThat(client.get(JOBS + "/" + id + "/input").expect(200).text())
        .isEqualTo("{\"a\": \"é\"}");
  }
}
