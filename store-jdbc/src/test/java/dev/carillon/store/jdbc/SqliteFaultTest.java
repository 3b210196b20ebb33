package dev.carillon.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqliteFaultTest {

  private static final SqliteOptions IMPATIENT =
      SqliteOptions.builder().busyTimeout(Duration.ofMillis(50)).build();

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void nameFile() {
    file = folder.resolve("jobs.db");
  }

  private static Change put(String key, int sequence) {
    return new Change(key, Stamp.ABSENT, new byte[100], new Stamp(5, sequence));
  }

  @Test
  void everyCallAfterCloseIsUnavailable() {
    SqliteStore store = SqliteStore.open(file);
    ShardId shard = Shards.create(store, 1);
    store.close();
    store.close();
    List<Outcome<?>> outcomes = new ArrayList<>();
    outcomes.add(store.journals().create(Shards.id(2), "home", 0, Shards.NO_WORDS));
    outcomes.add(store.journals().claim(shard, 1, 9));
    outcomes.add(Shards.append(store, Shards.entry(shard, 1, 10)));
    outcomes.add(store.journals().resolve(Shards.entry(shard, 1, 10)));
    outcomes.add(store.journals().read(shard, 1, 1, 100));
    outcomes.add(store.journals().head(shard));
    outcomes.add(store.journals().listById(null, 5));
    outcomes.add(store.journals().drop(shard, 1));
    outcomes.add(store.records().get("key"));
    outcomes.add(store.records().apply(List.of(put("key", 1))).getFirst());
    outcomes.add(store.records().list("", null, 5));
    assertThat(outcomes).allMatch(Outcome.Unavailable.class::isInstance);
  }

  @Test
  void interruptedCallerLosesNothingAndKeepsItsInterrupt() {
    Thread.currentThread().interrupt();
    try (SqliteStore store = SqliteStore.open(file)) {
      ShardId shard = Shards.create(store, 1);
      Shards.fill(store, shard, 1, 20, 30_000);
      assertThat(Shards.numbers(store, shard)).hasSize(20);
      store.records().apply(List.of(put("key", 1))).getFirst().orThrow();
      assertThat(store.records().get("key").orThrow()).isPresent();
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }
    try (SqliteStore store = SqliteStore.openReadOnly(file)) {
      assertThat(Shards.numbers(store, Shards.id(1))).hasSize(20);
    }
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void fileLockedByAnotherProgramIsUnavailableUntilItIsFree() throws SQLException {
    try (SqliteStore store = SqliteStore.open(file, IMPATIENT);
        Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = other.createStatement()) {
      ShardId shard = Shards.create(store, 1);
      Shards.append(store, Shards.entry(shard, 1, 10)).orThrow();
      statement.execute("begin immediate");
      assertThat(Shards.append(store, Shards.entry(shard, 2, 10)))
          .isInstanceOf(Outcome.Unavailable.class);
      assertThat(store.journals().seal(shard, 1, Shards.NO_WORDS))
          .isInstanceOf(Outcome.Unavailable.class);
      assertThat(Shards.numbers(store, shard)).containsExactly(1L);
      statement.execute("rollback");
      assertThat(Shards.append(store, Shards.entry(shard, 2, 10))).isEqualTo(Outcome.ok(2L));
    }
  }

  @Test
  void rowsWrittenBehindOurBackAreNoticed() throws SQLException {
    try (SqliteStore store = SqliteStore.open(file, IMPATIENT)) {
      ShardId shard = Shards.create(store, 1);
      Shards.append(store, Shards.entry(shard, 1, 10)).orThrow();
      sql("insert into entries select null, segment, 2, epoch, 99, crc, data from entries");
      assertThat(Shards.append(store, Shards.entry(shard, 2, 10)))
          .isInstanceOf(Outcome.Unavailable.class);
      assertThat(Shards.append(store, Shards.entry(shard, 2, 10)))
          .isEqualTo(new Outcome.Conflict<>(2));
    }
  }

  private void sql(String sql) throws SQLException {
    try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = other.createStatement()) {
      statement.execute(sql);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "update entries set data = zeroblob(length(data)) where number = 7 | entry 7",
        "update entries set epoch = 5 where number = 3 | entry 3",
        "update entries set batch = batch + 1 where number = 20 | entry 20",
        "update entries set number = 100 where number = 20 | entry 20",
        "update entries set crc = crc + 1 where number = 1 | entry 1",
        "delete from entries where number = 10 | entry 10",
        "update heads set wake = wake + 1 | head of shard",
        "update heads set summary = x'00' | head of shard",
        "update heads set segment = segment + 1 | head of shard",
        "update heads set status = 7 | head of shard",
        "update heads set shard = 'what' | head of shard"
      })
  void damagedRowsAreNamed(String damage, String where) throws SQLException {
    try (SqliteStore store = SqliteStore.open(file)) {
      Shards.fill(store, Shards.create(store, 1), 1, 20, 5_000);
    }
    sql(damage);
    try (SqliteStore store = SqliteStore.open(file)) {
      Outcome<?> outcome =
          where.startsWith("head")
              ? store.journals().listById(null, 10)
              : store.journals().read(Shards.id(1), 1, 1, 1 << 20);
      assertThat(outcome)
          .isInstanceOfSatisfying(
              Outcome.Damaged.class,
              damaged -> {
                assertThat(damaged.where()).contains(where);
                if (!damage.contains("what")) {
                  assertThat(damaged.where()).contains(Shards.id(1).toString());
                }
              });
      // The store goes on with what is whole.
      ShardId other = Shards.create(store, 2);
      Shards.append(store, Shards.entry(other, 1, 10)).orThrow();
      assertThat(Shards.numbers(store, other)).containsExactly(1L);
    }
  }

  @Test
  void damagedRecordIsNamed() throws SQLException {
    try (SqliteStore store = SqliteStore.open(file)) {
      store.records().apply(List.of(put("a", 1), put("b", 2))).forEach(Outcome::orThrow);
    }
    sql("update records set value = x'01' where key = cast('b' as blob)");
    try (SqliteStore store = SqliteStore.open(file)) {
      assertThat(store.records().get("a").orThrow()).isPresent();
      assertThat(store.records().get("b"))
          .isEqualTo(new Outcome.Damaged<>("record b: wrong checksum"));
      assertThat(store.records().list("", null, 9)).isInstanceOf(Outcome.Damaged.class);
    }
  }

  @Test
  void damagedHeadRefusesItsOwnAppendsOnly() throws SQLException {
    try (SqliteStore store = SqliteStore.open(file)) {
      Shards.create(store, 1);
      Shards.create(store, 2);
    }
    sql("update heads set epoch = 3 where shard = '" + Shards.id(1) + "'");
    try (SqliteStore store = SqliteStore.open(file)) {
      List<Outcome<Long>> outcomes =
          store
              .journals()
              .append(
                  List.of(Shards.entry(Shards.id(1), 1, 5), Shards.entry(Shards.id(2), 1, 5)),
                  false);
      assertThat(outcomes.getFirst()).isInstanceOf(Outcome.Damaged.class);
      assertThat(outcomes.getLast()).isEqualTo(Outcome.ok(1L));
    }
  }

  @Test
  void flippedBitInTheLogIsFoundUnlessItCouldBeATornTail() throws IOException {
    Path copy = Files.createDirectory(folder.resolve("copy"));
    try (SqliteStore store = SqliteStore.open(file)) {
      Shards.fill(store, Shards.create(store, 1), 1, 10, 20_000);
      Shell.run(
          "cp", file.toString(), Sidecar.WAL.of(file).toString(), copy.toAbsolutePath().toString());
    }
    Path copied = copy.resolve("jobs.db");
    Path log = Sidecar.WAL.of(copied);
    byte[] database = Files.readAllBytes(copied);
    byte[] whole = Files.readAllBytes(log);
    Random random = new Random(3);
    int refused = 0;
    for (int round = 0; round < 60; round++) {
      byte[] flipped = whole.clone();
      int at = round < 10 ? round * 3 : random.nextInt(whole.length);
      flipped[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(copied, database);
      Files.write(log, flipped);
      try (SqliteStore store = SqliteStore.open(copied)) {
        assertThat(Shards.numbers(store, Shards.id(1)))
            .as("entries after a flip at %s of %s", at, whole.length)
            .hasSizeGreaterThanOrEqualTo(9);
      } catch (StoreCorruptedException e) {
        assertThat(e.where()).contains("-wal");
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(40);
  }

  @Test
  void logTornAnywhereKeepsWhatWasBefore() throws IOException {
    Path copy = Files.createDirectory(folder.resolve("copy"));
    try (SqliteStore store = SqliteStore.open(file)) {
      Shards.fill(store, Shards.create(store, 1), 1, 4, 20_000);
      Shell.run(
          "cp", file.toString(), Sidecar.WAL.of(file).toString(), copy.toAbsolutePath().toString());
    }
    Path copied = copy.resolve("jobs.db");
    byte[] database = Files.readAllBytes(copied);
    byte[] whole = Files.readAllBytes(Sidecar.WAL.of(copied));
    int before = 0;
    for (int length = whole.length % 9_973; length <= whole.length; length += 9_973) {
      Files.write(copied, database);
      Files.write(Sidecar.WAL.of(copied), Arrays.copyOf(whole, length));
      try (SqliteStore store = SqliteStore.open(copied)) {
        Outcome<?> head = store.journals().head(Shards.id(1));
        int entries = head.isOk() ? Shards.read(store, Shards.id(1)).size() : 0;
        assertThat(entries).as("entries of a log of %s bytes", length).isBetween(before, 4);
        before = entries;
      }
    }
    assertThat(before).isEqualTo(4);
  }

  @Test
  void fileThatWasDeletedOrReplacedIsNotWrittenTo() throws IOException {
    try (SqliteStore store = SqliteStore.open(file)) {
      ShardId shard = Shards.create(store, 1);
      Path aside = folder.resolve("aside.db");
      for (Path moved : List.of(file, Sidecar.WAL.of(file))) {
        Files.move(moved, aside);
        assertThat(Shards.append(store, Shards.entry(shard, 1, 10)))
            .isInstanceOfSatisfying(
                Outcome.Unavailable.class,
                unavailable -> assertThat(unavailable.detail()).contains("moved or replaced"));
        Files.createFile(moved);
        assertThat(Shards.append(store, Shards.entry(shard, 1, 10)))
            .isInstanceOf(Outcome.Unavailable.class);
        Files.delete(moved);
        Files.move(aside, moved);
      }
      assertThat(Shards.append(store, Shards.entry(shard, 1, 10))).isEqualTo(Outcome.ok(1L));
    }
  }

  /** Several times: whether the store opens anything in between is a matter of its own thread. */
  @RepeatedTest(20)
  void logSurvivesAnEmptyFileInPlaceOfItsOwn() throws IOException {
    try (SqliteStore store = SqliteStore.open(file)) {
      ShardId shard = Shards.create(store, 1);
      Shards.fill(store, shard, 1, 4, 1_000);
      Path aside = folder.resolve("aside.db");
      Files.move(file, aside);
      Files.createFile(file);
      // Read through what is open already, or not at all.
      assertThat(store.journals().head(shard))
          .isInstanceOfAny(Outcome.Ok.class, Outcome.Unavailable.class);
      store.emptyLog();
      Files.delete(file);
      Files.move(aside, file);
      assertThat(Shards.read(store, shard)).hasSize(4);
    }
    try (SqliteStore store = SqliteStore.open(file)) {
      assertThat(Shards.read(store, Shards.id(1))).hasSize(4);
    }
  }

  @Test
  void deletedFileIsNotMadeAgain() throws IOException {
    try (SqliteStore store = SqliteStore.open(file)) {
      ShardId shard = Shards.create(store, 1);
      Files.delete(file);
      assertThat(Shards.append(store, Shards.entry(shard, 1, 10)))
          .isInstanceOf(Outcome.Unavailable.class);
      store.emptyLog();
      assertThat(file).doesNotExist();
    }
    assertThat(file).doesNotExist();
  }

  @Test
  void fullDiskThatGrowsTakesEverythingAgain() throws IOException {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    SqliteOptions options = SqliteOptions.builder().reserveBytes(2 << 20).build();
    try (SmallDisk small = SmallDisk.mount(disk, 12 << 20);
        SqliteStore store = SqliteStore.open(small.file("jobs.db"), options)) {
      ShardId shard = Shards.create(store, 1);
      long number = 1;
      Outcome<Long> outcome = Shards.append(store, Shards.entry(shard, number, 200_000));
      while (outcome.isOk()) {
        outcome = Shards.append(store, Shards.entry(shard, ++number, 200_000));
      }
      long last = number;
      assertThat(outcome).isInstanceOf(Outcome.Full.class);
      assertThat(Shards.numbers(store, shard)).hasSize((int) last - 1);

      // Groups with urgent and other entries: only the urgent ones go in.
      ShardId other = Shards.id(1);
      Append end = Shards.entry(other, last, 100).asUrgent();
      assertThat(Shards.append(store, end)).isEqualTo(Outcome.ok(last));
      List<Append> mixed =
          List.of(
              Shards.entry(shard, last + 1, 500_000),
              Shards.entry(shard, last + 2, 100).asUrgent());
      assertThat(store.journals().append(mixed, false)).allMatch(Outcome.Full.class::isInstance);
      assertThat(store.journals().append(mixed, true)).allMatch(Outcome.Full.class::isInstance);

      small.resize(64 << 20);
      Awaitility.await()
          .until(() -> Shards.append(store, Shards.entry(shard, last + 1, 200_000)).isOk());
      assertThat(Shards.numbers(store, shard)).hasSize((int) last + 1);
      Awaitility.await()
          .until(() -> Files.size(Sidecar.RESERVE.of(small.file("jobs.db"))) == 2 << 20);
    }
  }

  @Test
  void diskFilledByOthersStillTakesEndsAndDrops() throws IOException {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    SqliteOptions options = SqliteOptions.builder().reserveBytes(2 << 20).build();
    try (SmallDisk small = SmallDisk.mount(disk, 16 << 20);
        SqliteStore store = SqliteStore.open(small.file("jobs.db"), options)) {
      ShardId shard = Shards.create(store, 1);
      Shards.fill(store, shard, 1, 20, 50_000);
      Path theirs = small.file("theirs");
      Shell.tryRun("dd", "if=/dev/zero", "of=" + theirs, "bs=64k");
      assertThat(disk.toFile().getUsableSpace()).isZero();

      assertThat(Shards.append(store, Shards.entry(shard, 21, 50_000)))
          .isInstanceOf(Outcome.Full.class);
      assertThat(store.journals().create(Shards.id(2), "home", 0, Shards.NO_WORDS))
          .isInstanceOf(Outcome.Full.class);
      for (int number = 21; number <= 30; number++) {
        assertThat(Shards.append(store, Shards.entry(shard, number, 200).asUrgent()))
            .isEqualTo(Outcome.ok((long) number));
      }
      assertThat(Shards.numbers(store, shard)).hasSize(30);
      assertThat(store.journals().release(shard, 1, 30, Shards.NO_WORDS).isOk()).isTrue();
      assertThat(store.journals().drop(shard, 1).isOk()).isTrue();

      Files.delete(theirs);
      Awaitility.await()
          .until(() -> store.journals().create(Shards.id(2), "home", 0, Shards.NO_WORDS).isOk());
    }
  }

  @Test
  void storeOnAFullDiskOpensForEndsAndDrops() throws IOException {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    SqliteOptions options = SqliteOptions.builder().reserveBytes(2 << 20).build();
    try (SmallDisk small = SmallDisk.mount(disk, 16 << 20)) {
      Path theirs = small.file("theirs");
      try (SqliteStore store = SqliteStore.open(small.file("jobs.db"), options)) {
        Shards.fill(store, Shards.create(store, 1), 1, 3, 5_000);
      }
      Shell.tryRun("dd", "if=/dev/zero", "of=" + theirs, "bs=64k");
      Shell.tryRun("dd", "if=/dev/zero", "of=" + small.file("theirs too"), "bs=1k");
      try (SqliteStore store = SqliteStore.open(small.file("jobs.db"), options)) {
        ShardId shard = Shards.id(1);
        assertThat(Shards.numbers(store, shard)).hasSize(3);
        assertThat(Shards.append(store, Shards.entry(shard, 4, 100)))
            .isInstanceOf(Outcome.Full.class);
        assertThat(Shards.append(store, Shards.entry(shard, 4, 100).asUrgent()))
            .isEqualTo(Outcome.ok(4L));
        assertThat(store.journals().drop(shard, 1).isOk()).isTrue();
        Files.delete(theirs);
        Awaitility.await()
            .until(() -> store.journals().create(Shards.id(2), "home", 0, new byte[9]).isOk());
      }
    }
  }

  @Test
  void fullDiskCannotBeginAStore() throws IOException {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    try (SmallDisk small = SmallDisk.mount(disk, 64 << 10)) {
      assertThatThrownBy(() -> SqliteStore.open(small.file("jobs.db")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("space");
    }
  }

  @Test
  void diskThatTurnsReadOnlyIsUnavailableAndReadable() throws IOException {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    try (SmallDisk small = SmallDisk.mount(disk, 64 << 20);
        SqliteStore store = SqliteStore.open(small.file("jobs.db"))) {
      ShardId shard = Shards.create(store, 1);
      Shards.fill(store, shard, 1, 3, 1_000);
      Append last = Shards.entry(shard, 4, 1_000);
      // The kernel does not let go of files that are open for writing, so this is as far as it
      // goes.
      if (Shell.tryRun("mount", "-o", "remount,ro", disk.toString()).status() == 0) {
        assertThat(Shards.append(store, last)).isInstanceOf(Outcome.Unavailable.class);
        small.writable(true);
      }
      assertThat(Shards.numbers(store, shard)).hasSize(3);
      Awaitility.await().until(() -> Shards.append(store, last).isOk());
      assertThat(Shards.read(store, shard).stream().map(Entry::batch)).contains(last.batch());
    }
  }
}
