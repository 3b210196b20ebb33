package dev.carillon;

import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.CancelResult;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.engine.job.JobRef;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A file with a damaged shard: that one is refused and named, the others go on. */
@Timeout(60)
class DamageTest {
  @TempDir Path folder;

  private Place place;
  private JobId soon;
  private JobId month;
  private JobId year;

  /** Three jobs in a shard each, the first of which is loaded at every start. */
  @BeforeEach
  void fillAStore() {
    place = new Place(Place.Kind.SQLITE, folder);
    try (Carillon carillon = place.open()) {
      soon = carillon.schedule(NOTE.job("soon")).id();
      month = carillon.schedule(NOTE.job("month").in(Duration.ofDays(40))).id();
      year = carillon.schedule(NOTE.job("year").in(Duration.ofDays(400))).id();
    }
  }

  /** Overwrites what the journal of the n-th shard says, from 0 in the order of their ids. */
  private void damageEntries(int shard) throws SQLException {
    update(
        "update entries set data = zeroblob(length(data)) where segment ="
            + " (select segment from heads order by shard limit 1 offset "
            + shard
            + ")");
  }

  private void update(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(place.url());
        Statement statement = connection.createStatement()) {
      assertThat(statement.executeUpdate(sql)).isPositive();
    }
  }

  private static String shardOf(JobId id) {
    return JobRef.parse(id).shard().toString();
  }

  @Test
  void damagedShardIsNamedAndTheOthersAreListedAndRun() throws Exception {
    damageEntries(1);
    try (Carillon carillon = place.open()) {
      Page<JobInfo> page = carillon.list(JobQuery.all());
      assertThat(page.items()).extracting(JobInfo::id).containsExactly(soon, year);
      assertThat(page.next()).isNull();
      assertThat(page.unreadable()).hasSize(1).first().asString().contains(shardOf(month));
      assertThat(carillon.list(JobQuery.all().limit(2)).unreadable()).hasSize(1);

      assertThat(carillon.get(year).orElseThrow().state()).isEqualTo(JobState.SCHEDULED);
      assertThatThrownBy(() -> carillon.get(month))
          .isInstanceOf(StoreCorruptedException.class)
          .hasMessageContaining(shardOf(month));
      assertThatThrownBy(() -> carillon.watch(month, info -> {}))
          .isInstanceOf(StoreCorruptedException.class)
          .hasMessageContaining(shardOf(month));
      assertThatThrownBy(() -> carillon.history(month)).isInstanceOf(StoreCorruptedException.class);

      carillon.handle(NOTE, (text, job) -> {});
      carillon.result(soon, TaskTypeResult.NONE, LONG);
      assertThat(carillon.cancel(year, "")).isEqualTo(new CancelResult.Cancelled());
      carillon.schedule(NOTE.job("new")).result(LONG);
      assertThat(carillon.node().health().ready()).isTrue();
    }
  }

  @Test
  void healthCountsAShardThatCouldNotBeLoaded() throws Exception {
    damageEntries(0);
    try (Carillon carillon = place.open()) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(carillon.node().health().detail())
                      .startsWith("ok, but shards that cannot be read: 1 (shard " + shardOf(soon)));
      assertThat(carillon.node().health().ready()).isTrue();
      assertThat(carillon.node().stats().refusedShards()).isEqualTo(1);
      assertThatThrownBy(() -> carillon.get(soon)).isInstanceOf(StoreCorruptedException.class);

      carillon.handle(NOTE, (text, job) -> {});
      carillon.schedule(NOTE.job("new")).result(LONG);
      assertThat(carillon.list(JobQuery.all().states(JobState.SCHEDULED)).items())
          .extracting(JobInfo::id)
          .containsExactly(month, year);
    }
  }

  @Test
  void damagedHeadHidesItsOwnJobsAndKeepsNoOthersFromRunning() throws Exception {
    update(
        "update heads set wake = wake + 1 where shard ="
            + " (select shard from heads order by shard limit 1 offset 1)");
    try (Carillon carillon = place.open()) {
      assertThatThrownBy(() -> carillon.get(month))
          .isInstanceOf(StoreCorruptedException.class)
          .hasMessageContaining("head of shard " + shardOf(month));
      Page<JobInfo> page = carillon.list(JobQuery.all());
      assertThat(page.items()).extracting(JobInfo::id).containsExactly(soon, year);
      assertThat(page.unreadable()).containsExactly("head of shard " + shardOf(month));
      assertThat(page.next()).isNull();
      Page<JobInfo> ranged = carillon.list(JobQuery.all().dueFrom(Instant.now()));
      assertThat(ranged.items()).extracting(JobInfo::id).containsExactly(year);
      assertThat(ranged.unreadable()).hasSize(1);
      assertThat(carillon.get(year).orElseThrow().state()).isEqualTo(JobState.SCHEDULED);
      carillon.handle(NOTE, (text, job) -> {});
      carillon.result(soon, TaskTypeResult.NONE, LONG);
      assertThatThrownBy(() -> carillon.cancel(month, ""))
          .isInstanceOf(StoreCorruptedException.class);
      carillon.schedule(NOTE.job("new")).result(LONG);
      JobId beside = carillon.schedule(NOTE.job("new").in(Duration.ofDays(40))).id();
      assertThat(carillon.get(beside)).isPresent();
    }
  }

  @Test
  void healthNamesADamagedHeadThatWakesInAYear() throws Exception {
    update("update heads set wake = wake + 1 where shard = '" + shardOf(year) + "'");
    try (Carillon carillon = place.open()) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(carillon.node().health().detail())
                      .isEqualTo(
                          "ok, but shards that cannot be read: 1 (head of shard %s: damaged)"
                              .formatted(shardOf(year))));
      assertThat(carillon.node().health().ready()).isTrue();
    }
  }

  @Test
  void damagedHeadThatWouldWakeIsCountedAndTheOthersWake() throws Exception {
    JobId other;
    try (Carillon another = place.builder().nodeId("another").open()) {
      other = another.schedule(NOTE.job("other")).id();
    }
    assertThat(shardOf(other)).isNotEqualTo(shardOf(soon));
    update("update heads set wake = wake + 1 where shard = '" + shardOf(soon) + "'");
    try (Carillon carillon = place.open()) {
      carillon.handle(NOTE, (text, job) -> {});
      carillon.result(other, TaskTypeResult.NONE, LONG);
      assertThat(carillon.node().health().detail())
          .startsWith("ok, but shards that cannot be read: 1 (head of shard " + shardOf(soon));
      assertThatThrownBy(() -> carillon.cancel(soon, ""))
          .isInstanceOf(StoreCorruptedException.class);
      assertThatThrownBy(() -> carillon.cancel(soon, "again"))
          .isInstanceOf(StoreCorruptedException.class);
    }
  }
}
