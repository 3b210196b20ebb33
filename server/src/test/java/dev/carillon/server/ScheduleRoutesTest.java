package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.server.ApiClient.Reply;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Recurring jobs by their names over HTTP. */
class ScheduleRoutesTest {
  private static final String SCHEDULES = "/v1/namespaces/default/schedules";
  private static final String NIGHTLY =
      """
      {"type": "report", "input": {"day": 1},
       "schedule": {"cron": "30 2 * * *", "zone": "Europe/Berlin"}}
      """;

  @TempDir Path folder;
  private ServerFixture fixture;

  private ApiClient open(String store) {
    fixture =
        ServerFixture.on(
            store.equals("sqlite")
                ? "jdbc:sqlite:" + folder.resolve("jobs.db")
                : PostgresServer.shared().url() + "&carillon.schema=server_schedules");
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
  void putCreatesThenTakesOverWhatDiffersAndKeepsTheJob(String store) {
    ApiClient client = open(store);
    String path = SCHEDULES + "/nightly%2Freport%20%7C%40";
    Reply created = client.put(path, NIGHTLY).expect(201);
    String id = created.json().path("id").asString();
    assertThat(created.whole().headers().firstValue("location")).hasValue(path);
    assertThat(client.put(path, NIGHTLY).expect(200).json().path("id").asString()).isEqualTo(id);

    JsonNode read = client.get(path).expect(200).json();
    assertThat(read.path("name").asString()).isEqualTo("nightly/report |@");
    assertThat(read.path("recurring").path("schedule").path("words").asString())
        .contains("02:30", "Europe/Berlin");

    String changed = NIGHTLY.replace("30 2 * * *", "0 5 * * *");
    assertThat(client.put(path, changed).expect(200).json().path("id").asString()).isEqualTo(id);
    read = client.get(path).expect(200).json();
    assertThat(read.path("recurring").path("schedule").path("cron").asString())
        .isEqualTo("0 5 * * *");

    client.post(path + "/pause", "{\"reason\": \"holidays\"}").expect(200);
    read = client.get(path).expect(200).json();
    assertThat(read.path("state").asString()).isEqualTo("PAUSED");
    assertThat(read.path("reason").asString()).isEqualTo("holidays");
    client.post(path + "/resume", "").expect(200);
    assertThat(client.get(path).expect(200).json().path("state").asString()).isEqualTo("SCHEDULED");

    client.delete(path).expect(200);
    assertThat(client.get(path).expect(404).problem()).isEqualTo("not-found");
    client.delete(path).expect(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgres"})
  void prefixEndsAtTheSeparator(String store) {
    ApiClient client = open(store);
    List<String> names =
        List.of("test", "test/a", "test/b/c", "test-1", "tester/a", "test.x", "other");
    for (String name : names) {
      client.put(SCHEDULES + "/" + name.replace("/", "%2F"), NIGHTLY).expect(201);
    }
    client
        .post(
            "/v1/namespaces/default/jobs",
            "{\"type\": \"t\", \"in\": \"1h\", \"name\": \"test/j\"}")
        .expect(201);

    JsonNode deleted = client.delete(SCHEDULES + "?prefix=test").expect(200).json();
    assertThat(deleted.path("deleted").asInt()).isEqualTo(2);
    assertThat(deleted.path("complete").asBoolean()).isTrue();
    assertThat(listed(client))
        .containsExactlyInAnyOrder("test", "test-1", "tester/a", "test.x", "other");

    assertThat(
            client
                .delete(SCHEDULES + "?prefix=test&separator=-")
                .expect(200)
                .json()
                .path("deleted")
                .asInt())
        .isEqualTo(1);
    assertThat(listed(client)).containsExactlyInAnyOrder("test", "tester/a", "test.x", "other");
    assertThat(client.delete(SCHEDULES).expect(400).detail()).contains("prefix: missing");
    assertThat(client.delete(SCHEDULES + "?prefix=").expect(400).detail()).contains("prefix: \"\"");
    assertThat(client.delete(SCHEDULES + "?prefix=a&separator=e").expect(400).detail())
        .contains("separator: \"e\"");
    client.get("/v1/namespaces/default/jobs?namePrefix=test/j").expect(200);
  }

  private static List<String> listed(ApiClient client) {
    List<String> names = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = client.get(SCHEDULES + "?limit=2" + cursor).expect(200).json();
      page.path("items").forEach(item -> names.add(item.path("name").asString()));
      cursor = page.has("next") ? "&cursor=" + page.path("next").asString() : "";
    } while (!cursor.isEmpty());
    return names;
  }

  @Test
  void previewTellsOfClockChanges() {
    ApiClient client = open("sqlite");
    JsonNode preview =
        client
            .post(
                "/v1/namespaces/default/preview",
                """
                {"schedule": {"cron": "30 2 * * *", "zone": "Europe/Berlin"}, "count": 3,
                 "from": "2026-03-28T00:00:00Z"}
                """)
            .expect(200)
            .json();
    assertThat(preview.path("words").asString()).contains("02:30", "Europe/Berlin");
    assertThat(preview.path("times")).hasSize(3);
    JsonNode change = preview.path("times").get(1);
    assertThat(change.path("time").asString()).isEqualTo("2026-03-29T01:00:00Z");
    assertThat(change.path("local").asString()).isEqualTo("2026-03-29T03:00:00+02:00");
    assertThat(change.path("notes").get(0).asString()).contains("02:30");
    assertThat(preview.path("times").get(0).has("notes")).isFalse();

    client.put(SCHEDULES + "/n", NIGHTLY).expect(201);
    JsonNode stored =
        client
            .get(SCHEDULES + "/n/preview?count=2&from=2026-10-24T22:00:00Z&zone=UTC")
            .expect(200)
            .json();
    assertThat(stored.path("times").get(0).path("local").asString())
        .isEqualTo("2026-10-25T00:30:00Z");
    assertThat(stored.path("times").get(0).path("notes")).isNotEmpty();
    assertThat(client.get(SCHEDULES + "/n/preview?count=0").expect(400).detail())
        .contains("count: 0");
    assertThat(client.get(SCHEDULES + "/n/preview?zone=Mars").expect(400).detail())
        .contains("zone: \"Mars\"");
    client.get(SCHEDULES + "/m/preview").expect(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgres"})
  void onlyTheVersionThatWasSeenIsOverwritten(String store) {
    ApiClient client = open(store);
    String path = SCHEDULES + "/n";
    assertThat(client.put(path, NIGHTLY, "If-Match", "*").expect(412).problem())
        .isEqualTo("changed-meanwhile");
    client.put(path, NIGHTLY, "If-None-Match", "*").expect(201);
    assertThat(client.put(path, NIGHTLY, "If-None-Match", "*").expect(412).detail())
        .contains("exists");

    String seen = etag(client, path);
    String five = NIGHTLY.replace("30 2", "0 5");
    client.put(path, five, "If-Match", seen).expect(200);
    String after = etag(client, path);
    assertThat(after).isNotEqualTo(seen);
    String six = NIGHTLY.replace("30 2", "0 6");
    assertThat(client.put(path, six, "If-Match", seen).expect(412).detail()).contains(after);
    assertThat(cron(client, path)).isEqualTo("0 5 * * *");

    client.post(path + "/pause", "").expect(200);
    client.post(path + "/resume", "").expect(200);
    client.put(path, five).expect(200);
    assertThat(etag(client, path)).isEqualTo(after);
    client.put(path, six, "If-Match", "\"0-x\", " + after).expect(200);
    client.put(path, five, "If-Match", "*").expect(200);
    assertThat(cron(client, path)).isEqualTo("0 5 * * *");

    String id = client.get(path).expect(200).json().path("id").asString();
    client
        .post(
            "/v1/namespaces/default/jobs/" + id + "/reschedule",
            "{\"schedule\": {\"cron\": \"0 7 * * *\"}}")
        .expect(200);
    assertThat(etag(client, path)).isNotEqualTo(after);

    String last = etag(client, path);
    client.delete(path).expect(200);
    client.put(path, NIGHTLY).expect(201);
    client.put(path, five, "If-Match", last).expect(412);
  }

  @Test
  void historyNamesWhoChangedTheSchedule() {
    ApiClient client = open("sqlite");
    String id = client.put(SCHEDULES + "/n", NIGHTLY).expect(201).json().path("id").asString();
    client.put(SCHEDULES + "/n", NIGHTLY.replace("30 2", "0 5")).expect(200);
    JsonNode events =
        client
            .get("/v1/namespaces/default/jobs/" + id + "/history")
            .expect(200)
            .json()
            .path("events");
    assertThat(events.get(1).path("kind").asString()).isEqualTo("CHANGED");
    assertThat(events.get(1).path("by").asString()).isEqualTo("local");
  }

  private static String etag(ApiClient client, String path) {
    return client.get(path).expect(200).whole().headers().firstValue("etag").orElseThrow();
  }

  private static String cron(ApiClient client, String path) {
    JsonNode recurring = client.get(path).expect(200).json().path("recurring");
    return recurring.path("schedule").path("cron").asString();
  }

  @Test
  void onlySchedulesAreHere() {
    ApiClient client = open("sqlite");
    String plain = "{\"type\": \"report\", \"in\": \"1h\", \"name\": \"plain\"}";
    String id =
        client.post("/v1/namespaces/default/jobs", plain).expect(201).json().path("id").asString();
    client.get(SCHEDULES + "/plain").expect(404);
    client.delete(SCHEDULES + "/plain").expect(404);
    Reply taken = client.put(SCHEDULES + "/plain", NIGHTLY).expect(409);
    assertThat(taken.problem()).isEqualTo("name-taken");
    assertThat(taken.json().path("existing").asString()).isEqualTo(id);
    assertThat(client.get(SCHEDULES).expect(200).json().path("items")).isEmpty();
    assertThat(client.put(SCHEDULES + "/x", "{\"type\": \"t\"}").expect(400).detail())
        .contains("schedule: missing");
    assertThat(
            client
                .put(SCHEDULES + "/x", NIGHTLY.replace("{\"type\"", "{\"name\": \"y\", \"type\""))
                .expect(400)
                .detail())
        .contains("name: not that of the address");
    client.put(SCHEDULES + "/x", NIGHTLY).expect(201);
    assertThat(client.put(SCHEDULES + "/x", NIGHTLY.replace("report", "mail")).expect(400).detail())
        .contains("type: mail (expected: report");
    client.get("/v1/namespaces/other/schedules/x").expect(404);
    client.delete("/v1/namespaces/other/schedules/x").expect(404);
  }
}
