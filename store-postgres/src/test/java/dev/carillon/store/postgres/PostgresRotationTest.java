package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** Tables of entries come and go, and no entry with them that is still needed. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class PostgresRotationTest {

  private static final byte[] NO_WORDS = new byte[0];
  private static final int ENTRY_BYTES = 5_000;

  private final PostgresServer server = PostgresServer.shared();
  private PostgresStore store;
  private int shards;

  @BeforeEach
  void open(TestInfo test) {
    store =
        PostgresStore.open(
            PostgresOptions.at(server.url())
                .schema("rotation")
                .cluster(test.getDisplayName())
                .build());
  }

  @AfterEach
  void close() {
    store.close();
  }

  private ShardId create() {
    ShardId shard = new ShardId(1, 99, ++shards);
    store.journals().create(shard, "home", 0, NO_WORDS).orThrow();
    return shard;
  }

  private void append(ShardId shard, int generation, long from, long to) {
    LongStream.rangeClosed(from, to)
        .forEach(
            number -> {
              Append append =
                  new Append(shard, 1, generation, number, number, new byte[ENTRY_BYTES]);
              store.journals().append(List.of(append), false).getFirst().orThrow();
            });
  }

  private List<Long> batches(ShardId shard, int generation) {
    List<Entry> entries = new ArrayList<>();
    boolean complete = false;
    while (!complete) {
      ReadPage page =
          store.journals().read(shard, generation, entries.size() + 1, 3 * ENTRY_BYTES).orThrow();
      entries.addAll(page.entries());
      complete = page.complete();
    }
    return entries.stream().map(Entry::batch).toList();
  }

  private static List<Long> upTo(long last) {
    return LongStream.rangeClosed(1, last).boxed().toList();
  }

  /** Lets days pass for the tables there are. */
  private void age(int days) {
    server.run("update rotation.periods set begun = begun - interval '" + days + " days'");
  }

  private List<String> tables() {
    return texts(
        "select regexp_replace(tablename, '.*_', '') from pg_tables"
            + " where schemaname = 'rotation' and tablename like 'entries\\_"
            + store.cluster().id()
            + "\\_%' order by length(tablename), tablename");
  }

  private List<String> texts(String sql) {
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        found.add(rows.getString(1));
      }
      return found;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anAppendUpdatesNoRow() {
    ShardId shard = create();
    append(shard, 1, 1, 1);
    List<String> before = rowVersions(shard);
    append(shard, 1, 2, 200);
    assertThat(rowVersions(shard)).hasSize(2).isEqualTo(before);
  }

  /** Where the rows of a shard's head and segment are, and who wrote them. */
  private List<String> rowVersions(ShardId shard) {
    return texts(
        "select ctid || ' ' || xmin from rotation.heads where cluster = "
            + store.cluster().id()
            + " and shard = '"
            + shard
            + "' union all select ctid || ' ' || xmin from rotation.segments where cluster = "
            + store.cluster().id()
            + " and shard = '"
            + shard
            + "'");
  }

  @Test
  void aTableGoesOnceNothingIsNeededOfIt() {
    ShardId first = create();
    append(first, 1, 1, 5);
    age(2);
    store.rotation().turn();
    assertThat(tables()).containsExactly("1", "2");
    ShardId second = create();
    append(second, 1, 1, 5);
    store.journals().drop(first, 1).orThrow();
    store.rotation().turn();
    assertThat(tables()).containsExactly("2");
    assertThat(batches(second, 1)).isEqualTo(upTo(5));
  }

  @Test
  void anEmptyTableIsNotFollowedByAnother() {
    age(30);
    store.rotation().turn();
    assertThat(tables()).containsExactly("1");
  }

  @Test
  void tablesStayFewHoweverOftenTheyAreFollowed() {
    for (int round = 0; round < 6; round++) {
      ShardId shard = create();
      append(shard, 1, 1, 10);
      store.journals().drop(shard, 1).orThrow();
      age(30);
      store.rotation().turn();
      store.rotation().turn();
      assertThat(tables()).hasSize(1);
    }
  }

  @Test
  void appendsGoOnInTheNewestTableAndReadsInBoth() {
    ShardId shard = create();
    append(shard, 1, 1, 5);
    store.rotation().beginPeriod(1).orThrow();
    append(shard, 1, 6, 10);
    store.rotation().beginPeriod(2).orThrow();
    append(shard, 1, 11, 12);
    assertThat(tables()).containsExactly("1", "2", "3");
    assertThat(batches(shard, 1)).isEqualTo(upTo(12));
    Append repeated = new Append(shard, 1, 1, 7, 7, new byte[ENTRY_BYTES]);
    assertThat(store.journals().append(List.of(repeated), false)).containsExactly(Outcome.ok(7L));
    assertThat(store.journals().resolve(repeated)).isEqualTo(Outcome.ok(Resolution.COMMITTED));
    Append other = new Append(shard, 1, 1, 7, 8, new byte[1]);
    assertThat(store.journals().append(List.of(other), false))
        .containsExactly(new Outcome.Conflict<>(12));
    assertThat(store.journals().resolve(other)).isEqualTo(Outcome.ok(Resolution.ABSENT));
  }

  @Test
  void whatIsStillNeededIsMovedBeforeATableIsDropped() {
    ShardId lasting = create();
    append(lasting, 1, 1, 20);
    ShardId published = create();
    append(published, 1, 1, 3);
    store.journals().stage(published, 1, 1, 77, 1, new byte[ENTRY_BYTES]).orThrow();
    store.journals().stage(published, 1, 1, 77, 2, new byte[9]).orThrow();
    store.journals().publish(new Publication(published, 1, 1, 3, 77, 1, 0, NO_WORDS)).orThrow();
    append(published, 2, 2, 4);
    ShardId staging = create();
    store.journals().stage(staging, 1, 1, 78, 1, new byte[9]).orThrow();
    ShardId empty = create();

    for (int round = 0; round < 3; round++) {
      age(30);
      store.rotation().turn();
      age(30);
      store.rotation().turn();
      store.rotation().turn();
      int next = round * 5;
      append(lasting, 1, 21 + next, 25 + next);
    }

    assertThat(tables()).doesNotContain("1", "2");
    assertThat(batches(lasting, 1)).isEqualTo(upTo(35));
    assertThat(batches(published, 1)).isEqualTo(upTo(3));
    assertThat(batches(published, 2)).containsExactly(77L, 2L, 3L, 4L);
    assertThat(batches(empty, 1)).isEmpty();
    append(empty, 1, 1, 1);
    assertThat(store.journals().publish(new Publication(staging, 1, 1, 0, 78, 1, 0, NO_WORDS)))
        .as("a snapshot that was not published for weeks is staged again")
        .isEqualTo(new Outcome.Conflict<>(0));
  }

  @Test
  void ownersAndReadersGoOnWhileTablesAreRotated() throws Exception {
    ShardId shard = create();
    AtomicBoolean stop = new AtomicBoolean();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      Future<Long> owner =
          threads.submit(
              () -> {
                long last = 0;
                while (!stop.get()) {
                  last++;
                  append(shard, 1, last, last);
                }
                return last;
              });
      Future<Integer> reader =
          threads.submit(
              () -> {
                int reads = 0;
                for (; !stop.get(); reads++) {
                  List<Long> read = batches(shard, 1);
                  assertThat(read).isEqualTo(upTo(read.size()));
                }
                return reads;
              });
      for (int round = 0; round < 20; round++) {
        age(30);
        store.rotation().turn();
      }
      stop.set(true);
      assertThat(reader.get()).isPositive();
      assertThat(batches(shard, 1)).isEqualTo(upTo(owner.get()));
      assertThat(Integer.parseInt(tables().getLast())).as("tables begun").isGreaterThan(10);
      assertThat(tables()).as("tables kept").hasSizeLessThan(5);
    }
  }

  @Test
  void aSecondNodeFollowsToTheNewTable() {
    ShardId shard = create();
    append(shard, 1, 1, 2);
    try (PostgresStore other = PostgresStore.open(store.options())) {
      age(30);
      other.rotation().turn();
      append(shard, 1, 3, 4);
      age(30);
      other.rotation().turn();
      other.rotation().turn();
      append(shard, 1, 5, 6);
      ShardId next = create();
      append(next, 1, 1, 1);
      assertThat(batches(shard, 1)).isEqualTo(upTo(6));
      assertThat(other.journals().read(shard, 1, 1, 1 << 20).orThrow().entries()).hasSize(6);
    }
  }
}
