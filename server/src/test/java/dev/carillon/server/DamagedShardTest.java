package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A file with a damaged shard: pages say what they leave out, and the rest goes on. */
class DamagedShardTest {
  private static final String NAMESPACE = "/v1/namespaces/default";
  private static final String JOBS = NAMESPACE + "/jobs";

  @TempDir Path folder;
  private String damaged = "";
  private String whole = "";

  private String url() {
    return "jdbc:sqlite:" + folder.resolve("jobs.db");
  }

  @BeforeEach
  void fillAStoreAndDamageIt() throws SQLException {
    try (ServerFixture fixture = ServerFixture.on(url())) {
      damaged = schedule(fixture.client, "960h");
      fixture
          .client
          .put(
              NAMESPACE + "/schedules/far",
              "{\"type\": \"t\", \"schedule\": {\"every\": \"960h\"}}")
          .expect(201);
      whole = schedule(fixture.client, "9600h");
    }
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      int changed =
          statement.executeUpdate(
              "update entries set data = zeroblob(length(data)) where segment ="
                  + " (select segment from heads order by shard limit 1)");
      assertThat(changed).isPositive();
    }
  }

  private static String schedule(ApiClient client, String in) {
    String job = "{\"type\": \"t\", \"in\": \"%s\"}".formatted(in);
    return client.post(JOBS, job).expect(201).json().path("id").asString();
  }

  @Test
  void pagesNameWhatTheyLeaveOutAndOtherJobsGoOn() {
    try (ServerFixture fixture = ServerFixture.on(url())) {
      ApiClient client = fixture.client;
      JsonNode page = client.get(JOBS).expect(200).json();
      assertThat(page.path("items")).hasSize(1);
      assertThat(page.path("items").get(0).path("id").asString()).isEqualTo(whole);
      assertThat(page.path("unreadable")).hasSize(1);
      assertThat(client.get(NAMESPACE + "/schedules").expect(200).json().path("unreadable"))
          .hasSize(1);
      String order = "{\"action\": \"CANCEL\", \"query\": {}, \"dryRun\": true}";
      JsonNode count = client.post(NAMESPACE + "/bulk", order).expect(200).json();
      assertThat(count.path("count").asInt()).isEqualTo(1);
      assertThat(count.path("unreadable")).hasSize(1);

      ApiClient.Reply lost = client.get(JOBS + "/" + damaged).expect(503);
      assertThat(lost.problem()).isEqualTo("store-damaged");
      assertThat(lost.detail()).doesNotContain("jdbc").doesNotContain(folder.toString());
      client.post(JOBS + "/" + whole + "/cancel", "").expect(200);
      client.get("/health/ready").expect(200);
      schedule(client, "2h");
    }
  }
}
