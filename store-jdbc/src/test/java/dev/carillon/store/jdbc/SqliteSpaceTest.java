package dev.carillon.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Append;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the store takes on the disk, in statements and in time. */
class SqliteSpaceTest {

  private static final int MIB = 1 << 20;

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void nameFile() {
    file = folder.resolve("jobs.db");
  }

  private long logBytes() {
    return Sidecar.WAL.of(file).toFile().length();
  }

  @Test
  void logStaysBelowItsCapUnderLoad() {
    SqliteOptions options = SqliteOptions.builder().wal(2 * MIB, 8 * MIB, 16 * MIB).build();
    try (SqliteStore store = SqliteStore.open(file, options)) {
      ShardId shard = Shards.create(store, 1);
      long most = 0;
      for (int number = 1; number <= 200; number++) {
        Shards.append(store, Shards.entry(shard, number, MIB)).orThrow();
        most = Math.max(most, logBytes());
      }
      // The hard cap, and what was written since it was last looked at.
      assertThat(most).isLessThanOrEqualTo(16 * MIB + 2 * MIB);
      assertThat(store.counters().checkpoints()).isPositive();
      Awaitility.await().until(() -> logBytes() <= 8 * MIB);
      assertThat(Shards.numbers(store, shard)).hasSize(200);
    }
  }

  @Test
  void readerOfAnotherProgramDoesNotStopWriters() throws SQLException {
    SqliteOptions options = SqliteOptions.builder().wal(MIB, 2 * MIB, 4 * MIB).build();
    try (SqliteStore store = SqliteStore.open(file, options)) {
      ShardId shard = Shards.create(store, 1);
      try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
          var statement = other.createStatement()) {
        statement.execute("begin");
        statement.executeQuery("select count(*) from heads").close();
        for (int number = 1; number <= 30; number++) {
          Shards.append(store, Shards.entry(shard, number, MIB)).orThrow();
        }
        assertThat(logBytes()).isGreaterThan(16 * MIB);
        statement.execute("rollback");
      }
      Shards.append(store, Shards.entry(shard, 31, MIB)).orThrow();
      Awaitility.await().until(() -> logBytes() <= 2 * MIB);
      assertThat(Shards.numbers(store, shard)).hasSize(31);
    }
  }

  @Test
  void droppedShardGivesItsSpaceBackToTheDisk() {
    try (SqliteStore store = SqliteStore.open(file)) {
      ShardId shard = Shards.create(store, 1);
      ShardId kept = Shards.create(store, 2);
      for (int number = 1; number <= 80; number++) {
        Shards.append(store, Shards.entry(shard, number, MIB)).orThrow();
        Shards.append(store, Shards.entry(kept, number, 1_000)).orThrow();
      }
      store.emptyLog();
      assertThat(file.toFile().length()).isGreaterThan(80 * MIB);
      store.journals().drop(shard, 1).orThrow();
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                store.emptyLog();
                return file.toFile().length() < 40 * MIB;
              });
      assertThat(store.counters().freedEntries()).isEqualTo(80);
      assertThat(store.counters().failedCleanings()).isZero();
      assertThat(Shards.numbers(store, kept)).hasSize(80);
    }
  }

  @Test
  void freeingGoesOnAfterARestart() throws IOException, SQLException {
    Path copy = Files.createDirectory(folder.resolve("copy")).resolve("jobs.db");
    try (SqliteStore store = SqliteStore.open(file)) {
      ShardId shard = Shards.create(store, 1);
      Shards.fill(store, shard, 1, 2_000, 100);
      store.emptyLog();
      store.journals().drop(shard, 1).orThrow();
      // As a crash right after the answer would leave it.
      Shell.run("cp", file.toString(), copy.toString());
      Shell.run("cp", Sidecar.WAL.of(file).toString(), Sidecar.WAL.of(copy).toString());
    }
    try (SqliteStore store = SqliteStore.open(copy)) {
      assertThat(store.journals().listById(null, 9).orThrow()).isEmpty();
      Awaitility.await().until(() -> count(copy, "segments") == 0);
      assertThat(count(copy, "entries")).isZero();
    }
  }

  private static long count(Path file, String table) throws SQLException {
    try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = other.createStatement();
        var rows = statement.executeQuery("select count(*) from " + table)) {
      return rows.getLong(1);
    }
  }

  @Test
  void droppedGenerationsAndDiscardedSnapshotsAreFreed() throws SQLException {
    try (SqliteStore store = SqliteStore.open(file)) {
      ShardId shard = Shards.create(store, 1);
      Shards.fill(store, shard, 1, 30, 100);
      var journals = store.journals();
      for (long number = 1; number <= 10; number++) {
        journals.stage(shard, 1, 1, 111, number, new byte[10]).orThrow();
      }
      journals.stage(shard, 1, 1, 222, 1, new byte[10]).orThrow();
      journals.stage(shard, 1, 1, 222, 2, new byte[10]).orThrow();
      journals.stage(shard, 1, 1, 222, 3, new byte[10]).orThrow();
      journals.publish(new Publication(shard, 1, 1, 30, 222, 2, 5, Shards.NO_WORDS)).orThrow();
      journals.dropGenerations(shard, 1, 2).orThrow();
      Awaitility.await().until(() -> count(file, "segments") == 1);
      assertThat(count(file, "entries")).isEqualTo(2);
      Append next = new Append(shard, 1, 2, 3, 5, new byte[1]);
      assertThat(Shards.append(store, next)).isEqualTo(Outcome.ok(3L));
    }
  }

  @Test
  void appendsReadNothing() {
    try (SqliteStore store = SqliteStore.open(file)) {
      List<ShardId> shards = new ArrayList<>();
      for (int i = 1; i <= 100; i++) {
        shards.add(Shards.create(store, i));
      }
      long before = store.counters().journalReads();
      long bytes = store.counters().appendedBytes();
      long commits = store.counters().commits();
      for (int round = 1; round <= 10; round++) {
        List<Append> group = new ArrayList<>();
        for (ShardId shard : shards) {
          group.add(Shards.entry(shard, round, 100));
          store.journals().lowerWake(shard, 1, -round).orThrow();
        }
        store.journals().append(group, false).forEach(Outcome::orThrow);
      }
      assertThat(store.counters().journalReads() - before).isZero();
      assertThat(store.counters().appendedBytes() - bytes).isEqualTo(10 * 100 * 100);
      assertThat(store.counters().commits() - commits).isEqualTo(10 + 1_000);
    }
  }

  @Test
  void moreShardsThanAreCachedInOneGroup() {
    try (SqliteStore store = SqliteStore.open(file)) {
      int shards = 5_000;
      for (int i = 1; i <= shards; i++) {
        Shards.create(store, i);
      }
      for (long number = 1; number <= 5; number += 2) {
        List<Append> group = new ArrayList<>();
        for (int round = 0; round < 2; round++) {
          for (int i = 1; i <= shards; i++) {
            group.add(Shards.entry(Shards.id(i), number + round, 10));
          }
        }
        assertThat(store.journals().append(group, false)).allMatch(Outcome::isOk);
        assertThat(store.journals().append(group, false)).allMatch(Outcome::isOk);
      }
      assertThat(Shards.numbers(store, Shards.id(shards))).hasSize(6);
      assertThat(Shards.numbers(store, Shards.id(1))).hasSize(6);
    }
  }
}
