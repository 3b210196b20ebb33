package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.Concurrency;
import dev.carillon.api.JobId;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Why a job does not run, over HTTP: of one node and of another's. */
class WhyRoutesTest {
  private static final TaskType<Integer> HOLD = TaskType.of("hold", Integer.class);
  private static final Duration SOON = Duration.ofSeconds(20);

  private final String schema = Integer.toHexString(System.identityHashCode(this));
  private final CountDownLatch over = new CountDownLatch(1);
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    over.countDown();
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
  }

  private ServerFixture server(CarillonBuilder builder) {
    ServerFixture fixture = ServerFixture.on(builder);
    open.add(fixture);
    return fixture;
  }

  private void handle(Carillon carillon) {
    carillon.handle(HOLD, (input, job) -> over.await());
  }

  private static JsonNode why(ServerFixture asked, JobId id) {
    return asked.client.get("/v1/namespaces/default/jobs/" + id.value() + "/why").json();
  }

  private static List<String> reasons(JsonNode why) {
    List<String> reasons = new ArrayList<>();
    why.path("reasons").forEach(each -> reasons.add(each.path("reason").asString()));
    return reasons;
  }

  private static void awaitReasons(ServerFixture asked, JobId id, String... expected) {
    Awaitility.await()
        .atMost(SOON)
        .untilAsserted(() -> assertThat(reasons(why(asked, id))).containsExactly(expected));
  }

  @Test
  void pausedJobTellsByWhomAndSinceWhenAndDependencyHowItStands() {
    ServerFixture fixture = server(Carillon.builder().inMemory());
    JobId first = fixture.carillon.schedule(HOLD.job(1).in(Duration.ofHours(1))).id();
    JobId second = fixture.carillon.schedule(HOLD.job(2).after(first)).id();
    fixture.carillon.as("ann").pause(second, "stocktake");
    fixture.client.post("/v1/queues/default/pause", "{\"reason\": \"flood\"}").expect(200);
    JsonNode why = why(fixture, second);
    assertThat(reasons(why)).contains("PAUSED", "DEPENDENCY", "NO_HANDLER");
    JsonNode paused = why.path("reasons").get(0);
    assertThat(paused.path("facts").path("by").asString()).isEqualTo("ann");
    assertThat(paused.path("detail").asString()).isEqualTo("the job is paused: stocktake");
    assertThat(paused.has("since")).isTrue();
    assertThat(why.path("reasons").get(1).path("facts").path("reason").asString())
        .isEqualTo("flood");
    JsonNode dependency = why.path("reasons").get(2);
    assertThat(dependency.path("facts").path("jobs").asString()).isEqualTo(first.value());
    assertThat(dependency.path("facts").path("states").asString()).isEqualTo("SCHEDULED");
  }

  @Test
  void runningJobTellsWhereAndEndedOneNothing() {
    ServerFixture fixture = server(Carillon.builder().inMemory());
    handle(fixture.carillon);
    JobId id = fixture.carillon.schedule(HOLD.job(1)).id();
    Awaitility.await().atMost(SOON).until(() -> why(fixture, id).has("run"));
    JsonNode why = why(fixture, id);
    assertThat(why.path("run").path("attempt").asInt()).isEqualTo(1);
    assertThat(why.path("run").path("node")).isEqualTo(why.path("node"));
    assertThat(why.path("reasons")).isEmpty();
    over.countDown();
    Awaitility.await()
        .atMost(SOON)
        .until(() -> why(fixture, id).path("state").asString().equals("SUCCEEDED"));
    assertThat(why(fixture, id).path("reasons")).isEmpty();
    fixture.client.get("/v1/namespaces/other/jobs/" + id.value() + "/why").expect(404);
  }

  @Test
  void jobThatIsFarAwaySaysThatItIsNotDue() {
    ServerFixture fixture = server(Carillon.builder().inMemory());
    handle(fixture.carillon);
    JobId id = fixture.carillon.schedule(HOLD.job(1).in(Duration.ofDays(90))).id();
    JsonNode why = why(fixture, id);
    assertThat(reasons(why)).containsExactly("NOT_DUE");
    assertThat(why.path("reasons").get(0).has("until")).isTrue();
  }

  private CarillonBuilder node(String id) {
    return Carillon.builder()
        .url(PostgresServer.shared().url() + "&carillon.schema=server_why_" + schema)
        .nodeId(id)
        .closeGrace(Duration.ofSeconds(2));
  }

  @Test
  void jobOfAnotherNodeIsExplainedByItsOwner() {
    ServerFixture one = server(node("one"));
    Carillon library = node("library").open();
    open.add(library);
    Awaitility.await().atMost(SOON).until(() -> one.carillon.node().members().size() == 2);
    handle(library);
    Concurrency key = Concurrency.of("k");
    JobId holder = library.schedule(HOLD.job(1).concurrency(key)).id();
    Awaitility.await().atMost(SOON).until(() -> why(one, holder).has("run"));
    assertThat(why(one, holder).path("run").path("node").asString()).isEqualTo("library");
    JobId waits = library.schedule(HOLD.job(2).concurrency(key)).id();
    awaitReasons(one, waits, "KEY");
    JsonNode why = why(one, waits);
    assertThat(why.path("node").asString()).isEqualTo("library");
    assertThat(why.path("reasons").get(0).path("facts").path("holders").asString())
        .isEqualTo(holder.value());
    JobId unknown = library.schedule(TaskType.of("holds", Integer.class).job(3)).id();
    awaitReasons(one, unknown, "NO_HANDLER");
    assertThat(why(one, unknown).path("reasons").get(0).path("facts").path("near").asString())
        .isEqualTo("hold");
  }

  @Test
  void waitingJobsAreCountedByQueueAndReasonOnAllNodes() {
    ServerFixture one = server(node("count-one"));
    ServerFixture two = server(node("count-two"));
    for (ServerFixture each : List.of(one, two)) {
      Awaitility.await().atMost(SOON).until(() -> each.carillon.node().members().size() == 2);
    }
    TaskType<Integer> nobody = TaskType.of("nobody", Integer.class);
    one.carillon.queue("paused-queue").pause("flood");
    for (int i = 0; i < 3; i++) {
      one.carillon.schedule(nobody.job(i).queue("counted").namespace("counts"));
      two.carillon.schedule(nobody.job(i).queue("counted").namespace("counts"));
      two.carillon.schedule(nobody.job(i).queue("paused-queue").namespace("counts"));
    }
    one.carillon.schedule(nobody.job(1).queue("counted").namespace("elsewhere"));
    for (ServerFixture asked : List.of(one, two)) {
      Awaitility.await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                JsonNode waiting =
                    asked.client.get("/v1/namespaces/counts/waiting").expect(200).json();
                assertThat(counts(waiting))
                    .containsExactlyInAnyOrder("counted NO_HANDLER 6", "paused-queue PAUSED 3");
                assertThat(waiting.path("nodes")).hasSize(2);
                assertThat(waiting.path("silent")).isEmpty();
              });
      assertThat(counts(asked.client.get("/v1/cluster/waiting?queue=counted").expect(200).json()))
          .contains("counted NO_HANDLER 1");
    }
    one.carillon.queue("paused-queue").resume();
  }

  private static List<String> counts(JsonNode waiting) {
    List<String> counts = new ArrayList<>();
    for (JsonNode each : waiting.path("items")) {
      counts.add(
          each.path("queue").asString()
              + " "
              + each.path("reason").asString()
              + " "
              + each.path("jobs").asInt());
    }
    return counts;
  }
}
