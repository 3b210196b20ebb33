package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long the id of a job that was written in a transaction leads to it. */
@Timeout(60)
class TicketTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");

  private final PostgresPlace place = new PostgresPlace();

  private static JobHandle<Void> committed(Carillon carillon, Duration in) throws SQLException {
    try (Connection connection = PostgresServer.shared().connect()) {
      connection.setAutoCommit(false);
      JobHandle<Void> job = carillon.schedule(connection, NOTE.job("x").in(in));
      connection.commit();
      return job;
    }
  }

  private int records() {
    try (Store store = place.open()) {
      return store.records().list("t", null, 100).orThrow().size();
    }
  }

  @Test
  void theIdLeadsToTheJobForAsLongAsItsHistoryAndItsRecordGoesWithIt() throws SQLException {
    try (var world =
        CarillonTest.at(
            START,
            place::open,
            options ->
                options.advanced(
                    a -> a.loadHorizon(Duration.ofHours(8))))) { // it looks after history as often
      Carillon carillon = world.carillon();
      carillon.handle(NOTE, (input, job) -> {});
      JobHandle<Void> job = committed(carillon, Duration.ofMinutes(5));
      Awaitility.await().until(() -> records() == 1);
      world.advance(Duration.ofMinutes(10));
      assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
      world.advance(Duration.ofDays(6));
      assertThat(carillon.get(job.id())).isPresent();
      assertThat(records()).isEqualTo(1);
      for (int day = 0; day < 4; day++) {
        world.advance(Duration.ofDays(1));
      }
      assertThat(carillon.get(job.id())).isEmpty();
      assertThat(records()).isZero();
    }
  }

  @Test
  void aFarJobIsFoundByItsIdAfterARestart() throws SQLException {
    try (var world = CarillonTest.at(START, place::open, options -> {})) {
      world.carillon().handle(NOTE, (input, job) -> {});
      JobHandle<Void> job = committed(world.carillon(), Duration.ofDays(40));
      Awaitility.await().until(() -> records() == 1);
      world.restart();
      world.carillon().handle(NOTE, (input, context) -> {});
      assertThat(world.carillon().get(job.id()).orElseThrow().state())
          .isEqualTo(JobState.SCHEDULED);
      assertThat(world.carillon().cancel(job.id(), "late").toString()).contains("Cancelled");
      assertThat(world.carillon().history(job.id()).orElseThrow().job().state())
          .isEqualTo(JobState.CANCELLED);
    }
  }
}
