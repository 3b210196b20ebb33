package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.server.ApiClient.Reply;
import dev.carillon.server.http.Method;
import dev.carillon.server.http.Route;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every operation of the table while the store is away, and after it came back. */
@Timeout(300)
class StoreAwayTest {
  private static final String JOBS = "/v1/namespaces/default/jobs";

  /** They go on for as long as somebody listens. */
  private static final Set<String> ENDLESS = Set.of("streamEvents", "streamAllEvents");

  @Test
  void readsSayThatItIsAwayAndWritesEndAsRefusedOrUnknown() throws Exception {
    try (PostgresServer store = PostgresServer.start("server-store-away");
        ServerFixture fixture = ServerFixture.on(Carillon.builder().url(store.url()))) {
      ApiClient client = fixture.client;
      String id =
          client
              .post(JOBS, "{\"type\": \"t\", \"in\": \"1h\"}")
              .expect(201)
              .json()
              .path("id")
              .asString();
      client.get("/health/ready").expect(200);
      store.crash();
      Awaitility.await()
          .atMost(Duration.ofSeconds(5))
          .until(() -> client.get("/health/ready").status() == 503);
      assertThat(client.get("/health/ready").json().path("detail").asString())
          .isEqualTo("the store is away");
      client.get("/health/live").expect(200);

      Map<String, Integer> answers = askAll(fixture, id);
      assertThat(answers).doesNotContainValue(500).doesNotContainValue(201);
      assertThat(answers.get("scheduleJob")).isIn(429, 503, 504);
      assertThat(answers.get("scheduleJobs")).isIn(429, 503, 504);
      assertThat(answers.get("listJobs")).isIn(503, 504);
      client.get("/health/live").expect(200);

      store.restart();
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> client.get("/health/ready").status() == 200);
      client.get(JOBS + "/" + id).expect(200);
      String key = "{\"type\": \"t\", \"in\": \"1h\", \"key\": \"k\"}";
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> client.post(JOBS, key).status() / 100 == 2);
      assertThat(client.post(JOBS, key).expect(200).json().path("created").asBoolean()).isFalse();
    }
  }

  /** All at once: each may take as long as the store's timeouts. The client judges each answer. */
  private static Map<String, Integer> askAll(ServerFixture fixture, String id) throws Exception {
    Map<String, Integer> answers = new LinkedHashMap<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Reply>> asking = new ArrayList<>();
      List<String> names = new ArrayList<>();
      for (Route route : fixture.server.routes()) {
        if (!ENDLESS.contains(route.operation())) {
          names.add(route.operation());
          asking.add(() -> fixture.client.send(request(fixture.client, route, id)));
        }
      }
      List<Future<Reply>> replies = threads.invokeAll(asking);
      for (int i = 0; i < names.size(); i++) {
        answers.put(names.get(i), replies.get(i).get().status());
      }
    }
    return answers;
  }

  private static HttpRequest request(ApiClient client, Route route, String id) {
    String path =
        route
            .path()
            .replace("{ns}", "default")
            .replace("{id}", id)
            .replaceAll("\\{[a-zA-Z]+}", "x");
    String body =
        switch (route.operation()) {
          case "scheduleJobs" -> "{\"jobs\": [{\"type\": \"t\", \"in\": \"1h\"}]}";
          case "putSchedule" -> "{\"type\": \"t\", \"schedule\": {\"every\": \"1h\"}}";
          case "scheduleJob" -> "{\"type\": \"t\", \"in\": \"1h\"}";
          default -> "{}";
        };
    HttpRequest.Builder request = client.request(path).header("Content-Type", "application/json");
    boolean reads = route.method() == Method.GET || route.method() == Method.DELETE;
    return request
        .method(
            route.method().name(), reads ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
        .build();
  }
}
