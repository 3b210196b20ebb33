package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Requests made out of the description, from a fixed seed: every answer is one that the description
 * has, none is 500, each comes in time, and nothing is left behind. A short run with every build;
 * {@code -Dcarillon.fuzz.requests=100000} for the long one.
 */
@Timeout(3_600)
class RequestFuzzTest {
  private static final long SEED = 20_261_119;
  private static final int REQUESTS = Integer.getInteger("carillon.fuzz.requests", 3_000);
  private static final int CLIENTS = 4;
  private static final int PARTS = 5;
  private static final long MOST_GROWTH = 64L << 20;
  private static final int MOST_ENDED = Math.max(5, REQUESTS / 1_000);
  private static final LongAdder ENDED = new LongAdder();

  /** They go on for as long as somebody listens. */
  private static final Set<String> ENDLESS = Set.of("streamEvents", "streamAllEvents");

  @TempDir private Path folder;

  @Test
  void noRequestOfManyIsAnsweredWith500OrNotAtAllOrLeavesSomethingBehind() throws Exception {
    try (ServerFixture fixture =
        ServerFixture.on(Carillon.builder().url("jdbc:sqlite:" + folder.resolve("jobs.db")))) {
      ApiDescription description = new ApiDescription();
      List<String> ids = someJobs(fixture.client);
      Map<Integer, Integer> statuses = new TreeMap<>();
      long first = 0;
      for (int part = 0; part < PARTS; part++) {
        run(fixture.client, description, ids, part)
            .forEach((s, n) -> statuses.merge(s, n, Integer::sum));
        Awaitility.await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> fixture.server.http().isIdle());
        if (part == 0) {
          first = heap();
        }
      }
      long growth = heap() - first;
      System.out.printf(
          "%,d requests from seed %d: %s, heap %+,d KiB%n", REQUESTS, SEED, statuses, growth >> 10);
      assertThat(statuses.values().stream().mapToInt(n -> n).sum())
          .isGreaterThanOrEqualTo(REQUESTS);
      assertThat(statuses).containsKeys(200, 201, 400, 404).doesNotContainKey(500);
      assertThat(growth).isLessThan(MOST_GROWTH);
      assertThat(ENDED.sum()).isLessThanOrEqualTo(MOST_ENDED);
      assertThat(fixture.server.http().connections()).isLessThanOrEqualTo(2 * CLIENTS);
      fixture.client.get("/health/ready").expect(200);
    }
  }

  private static List<String> someJobs(ApiClient client) {
    List<String> ids = new ArrayList<>(List.of("nightly", "default"));
    for (int i = 0; i < 10; i++) {
      String job = "{\"type\": \"t%d\", \"in\": \"1h\", \"name\": \"n%d\"}".formatted(i, i);
      ids.add(
          client.post("/v1/namespaces/default/jobs", job).expect(201).json().path("id").asString());
    }
    return ids;
  }

  private static Map<Integer, Integer> run(
      ApiClient client, ApiDescription description, List<String> ids, int part) throws Exception {
    List<String> names =
        description.operations().keySet().stream().filter(n -> !ENDLESS.contains(n)).toList();
    try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
      List<Callable<Map<Integer, Integer>>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        long seed = SEED + (long) part * CLIENTS + i;
        clients.add(
            () -> {
              RequestMaker maker = new RequestMaker(description, seed, ids);
              Random which = new Random(seed);
              Map<Integer, Integer> statuses = new TreeMap<>();
              for (int n = 0; n <= REQUESTS / PARTS / CLIENTS; n++) {
                String operation = names.get(which.nextInt(names.size()));
                RequestMaker.Made made = maker.make(description.operations().get(operation));
                int status = send(client, made, seed);
                statuses.merge(status, 1, Integer::sum);
              }
              return statuses;
            });
      }
      Map<Integer, Integer> all = new TreeMap<>();
      for (Future<Map<Integer, Integer>> each : threads.invokeAll(clients)) {
        each.get().forEach((status, count) -> all.merge(status, count, Integer::sum));
      }
      return all;
    }
  }

  /** A connection may end between two requests; then the client asks once more. */
  private static int send(ApiClient client, RequestMaker.Made made, long seed) {
    try {
      try {
        return client.send(request(client, made)).status();
      } catch (UncheckedIOException e) {
        ENDED.increment();
        return client.send(request(client, made)).status();
      }
    } catch (RuntimeException | AssertionError e) {
      byte[] body = made.body();
      String text = body == null ? "" : new String(body, StandardCharsets.UTF_8);
      throw new AssertionError(
          "seed %d: %s %s %s".formatted(seed, made.method(), made.path(), text), e);
    }
  }

  private static HttpRequest request(ApiClient client, RequestMaker.Made made) {
    byte[] body = made.body();
    BodyPublisher publisher =
        body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body);
    HttpRequest.Builder request = client.request(made.path()).method(made.method(), publisher);
    for (int i = 0; i < made.headers().size(); i += 2) {
      request.header(made.headers().get(i), made.headers().get(i + 1));
    }
    return request.build();
  }

  private static long heap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
