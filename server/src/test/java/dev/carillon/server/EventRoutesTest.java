package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobId;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.server.EventStream.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Server-sent events: those of a query, and what becomes of a client that does not read. */
class EventRoutesTest {
  private static final TaskType<Integer> FLAKY = TaskType.of("flaky", Integer.class);
  private static final TaskType<Integer> OTHER = TaskType.of("other", Integer.class);

  private final ServerFixture fixture = ServerFixture.on(Carillon.builder().inMemory());
  private final Carillon carillon = fixture.carillon;

  @AfterEach
  void close() {
    fixture.close();
  }

  private EventStream open(String path) {
    return new EventStream(fixture.server, path);
  }

  @Test
  void eventsOfAQueryComeInOrderAndNoOthers() {
    carillon.handle(
        FLAKY,
        (input, job) -> {
          if (job.attempt() == 1) {
            throw new IllegalStateException("once");
          }
        });
    carillon.handle(OTHER, (input, job) -> {});
    try (EventStream flaky = open("/v1/namespaces/default/events?type=flaky&meta.tenant=a");
        EventStream ends = open("/v1/events?kind=ENDED&state=SUCCEEDED");
        EventStream elsewhere = open("/v1/namespaces/elsewhere/events")) {
      carillon.schedule(FLAKY.job(1).metadata(Map.of("tenant", "b")).namespace("second"));
      carillon.schedule(OTHER.job(2));
      JobId id =
          carillon
              .schedule(
                  FLAKY
                      .job(3)
                      .metadata(Map.of("tenant", "a"))
                      .onFailure(FailurePolicy.constant(Duration.ofMillis(1), 3)))
              .id();
      List<Event> events = flaky.next(4);
      assertThat(events)
          .extracting(Event::name)
          .containsExactly("started", "retrying", "started", "ended");
      assertThat(events).extracting(Event::id).containsExactly("1", "2", "3", "4");
      assertThat(events)
          .allMatch(event -> event.data().path("job").path("id").asString().equals(id.value()));
      assertThat(events.getLast().data().path("job").path("state").asString())
          .isEqualTo("SUCCEEDED");
      assertThat(ends.next(2)).extracting(Event::type).containsExactlyInAnyOrder("other", "flaky");
      assertThat(elsewhere.next().name()).as("a comment").isEmpty();
    }
  }

  @Test
  void blockedJobIsTold() {
    try (EventStream blocked = open("/v1/namespaces/default/events?kind=BLOCKED")) {
      carillon.schedule(OTHER.job(1));
      Event event = blocked.next(1).getFirst();
      assertThat(event.data().path("job").path("blockReason").asString()).isEqualTo("NO_HANDLER");
    }
  }

  @Test
  void slowReaderIsCutOffAndToldWhereItStoppedAndHarmsNobody() {
    carillon.handle(OTHER, (input, job) -> {});
    Map<String, String> large = Map.of("blob", "x".repeat(12_000));
    int jobs = 2_000;
    try (EventStream slow = open("/v1/events");
        EventStream good = open("/v1/events?kind=ENDED&queue=good")) {
      for (int i = 0; i < jobs; i++) {
        carillon.schedule(OTHER.job(i).metadata(large));
      }
      carillon.schedule(OTHER.job(0).queue("good"));
      assertThat(good.next(1).getFirst().name()).isEqualTo("ended");
      List<Event> read = new ArrayList<>();
      for (Event event = slow.next(); event != null; event = slow.next()) {
        if (!event.name().isEmpty()) {
          read.add(event);
        }
      }
      Event last = read.removeLast();
      assertThat(last.name()).isEqualTo("cut");
      assertThat(read).hasSizeBetween(1_000, 2 * jobs - 1);
      assertThat(last.data().path("after").asString()).isEqualTo(read.getLast().id());
      assertThat(last.data().path("lastAt").asString())
          .isEqualTo(read.getLast().data().path("at").asString());
    }
  }

  @Test
  void stoppingServerEndsItsStreams() {
    try (EventStream stream = open("/v1/events")) {
      fixture.server.close();
      assertThat(stream.next(1).getFirst().name()).isEqualTo("stopping");
      assertThat(stream.next()).isNull();
    }
  }

  @Test
  void unknownKindIsRefused() {
    assertThat(fixture.client.get("/v1/events?kind=NONE").expect(400).detail())
        .contains("kind: \"NONE\" (expected: one of [STARTED, RETRYING, BLOCKED, ENDED])");
  }

  @Test
  void eventsOfOtherNodesComeTooAndALostNodeIsNamed() {
    Carillon library = shared("events-library").open();
    try (ServerFixture server = ServerFixture.on(shared("events-one"))) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> server.carillon.node().members().size() == 2);
      library.handle(OTHER, (input, job) -> {});
      try (EventStream stream =
          new EventStream(server.server, "/v1/namespaces/default/events?type=other")) {
        // The other node keeps what happens only once it was asked.
        JobId first = library.schedule(OTHER.job(1).in(Duration.ofSeconds(2))).id();
        List<Event> events = stream.next(2);
        assertThat(events).extracting(Event::name).containsExactly("started", "ended");
        assertThat(events)
            .allMatch(e -> e.data().path("job").path("id").asString().equals(first.value()));
        assertThat(events.getLast().data().path("job").path("node").asString())
            .isEqualTo("events-library");
        library.schedule(OTHER.job(2));
        long begun = System.nanoTime();
        assertThat(stream.next(2)).extracting(Event::name).containsExactly("started", "ended");
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(3));
        library.close();
        Event missed = stream.next(1).getFirst();
        assertThat(missed.name()).isEqualTo("missed");
        assertThat(missed.data().path("node").asString()).isEqualTo("events-library");
      }
    } finally {
      library.close();
    }
  }

  private static CarillonBuilder shared(String id) {
    return Carillon.builder()
        .url(PostgresServer.shared().url() + "&carillon.schema=server_events")
        .nodeId(id)
        .closeGrace(Duration.ofSeconds(2));
  }
}
