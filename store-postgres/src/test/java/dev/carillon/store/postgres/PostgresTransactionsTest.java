package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import dev.carillon.store.Transactions.Answer;
import dev.carillon.store.Transactions.Completion;
import dev.carillon.store.Transactions.Draft;
import dev.carillon.store.Transactions.Permit;
import dev.carillon.store.Transactions.Place;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.Transactions.Row;
import dev.carillon.store.Transactions.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that come with users' transactions and leave with ours, line by line of the crash table. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PostgresTransactionsTest {

  private static final AtomicInteger CLUSTERS = new AtomicInteger();
  private static final long ME = 71;
  private static final long OTHER = 72;

  private final PostgresServer server = PostgresServer.shared();
  private final PostgresOptions options =
      PostgresOptions.at(server.url())
          .schema("transactions")
          .cluster("c" + CLUSTERS.incrementAndGet())
          .build();
  private PostgresStore store;
  private int shards;
  private long sequence;

  @BeforeEach
  void open() {
    store = PostgresStore.open(options);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Connection transaction() throws SQLException {
    Connection connection = server.connect();
    connection.setAutoCommit(false);
    return connection;
  }

  private void committed(String... tickets) throws SQLException {
    try (Connection connection = transaction()) {
      store.transactions().write(connection, drafts(tickets));
      connection.commit();
    }
  }

  private static List<Draft> drafts(String... tickets) {
    List<Draft> drafts = new ArrayList<>();
    for (String ticket : tickets) {
      drafts.add(new Draft(ticket, ticket.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    }
    return drafts;
  }

  private List<Row> take(long taker) {
    return store.transactions().take(taker, none -> false, 100, 1 << 20).orThrow();
  }

  private static List<String> tickets(List<Row> rows) {
    return rows.stream().map(Row::ticket).toList();
  }

  private ShardId shard() {
    ShardId shard = new ShardId(1, ME, ++shards);
    store.journals().create(shard, "home", 5, new byte[0]).orThrow();
    return shard;
  }

  private static Append append(ShardId shard, long number, long batch) {
    return new Append(shard, 1, 1, number, batch, new byte[] {(byte) batch});
  }

  private Rider rider(List<Row> rows) {
    return new Rider(
        rows.stream().map(Row::id).toList(),
        rows.stream()
            .map(
                row ->
                    new Change(
                        "t" + row.ticket(),
                        Stamp.ABSENT,
                        new byte[] {1},
                        new Stamp(ME, ++sequence)))
            .toList(),
        List.of());
  }

  private List<Outcome<Long>> append(Append append, Rider rider) {
    return store.transactions().append(List.of(append), List.of(rider), false);
  }

  private List<Long> batches(ShardId shard) {
    return store.journals().read(shard, 1, 1, 1 << 20).orThrow().entries().stream()
        .map(Entry::batch)
        .toList();
  }

  // ---- the inbox

  @Test
  void aRowIsThereWithItsCommitAndNeverWithoutIt() throws SQLException {
    try (Connection connection = transaction()) {
      store.transactions().write(connection, drafts("a", "b"));
      assertThat(take(ME)).isEmpty();
      assertThat(store.transactions().find("a").orThrow()).isEmpty();
      connection.rollback();
      assertThat(take(ME)).isEmpty();
      store.transactions().write(connection, drafts("c", "d"));
      connection.commit();
    }
    assertThat(store.transactions().find("c").orThrow().orElseThrow().ticket()).isEqualTo("c");
    List<Row> rows = take(ME);
    assertThat(tickets(rows)).containsExactly("c", "d");
    assertThat(new String(rows.getFirst().body(), java.nio.charset.StandardCharsets.UTF_8))
        .isEqualTo("c");
  }

  @Test
  void rowsAreTakenAsSeenHoweverLateTheyCommit() throws SQLException {
    try (Connection early = transaction()) {
      store.transactions().write(early, drafts("early"));
      committed("late");
      assertThat(tickets(take(ME))).containsExactly("late");
      early.commit();
    }
    assertThat(tickets(take(ME))).containsExactly("early");
  }

  @Test
  void whatALiveTakerHasIsLeftToItAndWhatADeadOneHadIsTakenAgain() throws SQLException {
    committed("a");
    assertThat(take(ME)).hasSize(1);
    assertThat(take(ME)).as("its own, which it knows").isEmpty();
    assertThat(take(OTHER)).isEmpty();
    assertThat(store.transactions().take(OTHER, taker -> taker == ME, 100, 100).orThrow())
        .hasSize(1);
    assertThat(store.transactions().take(ME, taker -> taker == ME, 100, 100).orThrow()).isEmpty();
    assertThat(store.transactions().take(OTHER, taker -> taker == OTHER, 100, 100).orThrow())
        .as("after an answer that was lost")
        .hasSize(1);
  }

  @Test
  void aTakeHasLimits() throws SQLException {
    committed("aaaa", "bbbb", "cccc");
    assertThat(store.transactions().take(ME, none -> false, 1, 100).orThrow()).hasSize(1);
    assertThat(store.transactions().take(ME, none -> false, 9, 1).orThrow())
        .as("one at least")
        .hasSize(1);
  }

  @Test
  void entryRowAndRecordChangeTogether() throws SQLException {
    committed("a", "b");
    List<Row> rows = take(ME);
    ShardId shard = shard();
    assertThat(append(append(shard, 1, 10), rider(rows))).containsExactly(Outcome.ok(1L));
    assertThat(batches(shard)).containsExactly(10L);
    assertThat(store.transactions().find("a").orThrow()).isEmpty();
    assertThat(store.records().get("ta").orThrow()).isPresent();
    assertThat(store.records().get("tb").orThrow()).isPresent();
  }

  @Test
  void aRowIsAppendedOnceWhoeverTriesAndHoweverOften() throws SQLException {
    committed("a");
    List<Row> rows = take(ME);
    ShardId first = shard();
    ShardId second = shard();
    Append mine = append(first, 1, 10);
    Rider rider = rider(rows);
    assertThat(append(mine, rider)).containsExactly(Outcome.ok(1L));
    assertThat(append(mine, rider)).as("the same again").containsExactly(Outcome.ok(1L));
    assertThat(append(append(second, 1, 11), rider(rows)).getFirst())
        .as("by another")
        .isInstanceOf(Outcome.Unavailable.class);
    assertThat(batches(first)).containsExactly(10L);
    assertThat(batches(second)).isEmpty();
    assertThat(append(append(second, 1, 12), Rider.NONE)).containsExactly(Outcome.ok(1L));
  }

  @Test
  void aRowThatTwoAppendsOfOneGroupCarryGoesWithOneOfThem() throws SQLException {
    committed("a");
    List<Row> rows = take(ME);
    ShardId first = shard();
    ShardId second = shard();
    List<Outcome<Long>> outcomes =
        store
            .transactions()
            .append(
                List.of(append(first, 1, 10), append(second, 1, 11)),
                List.of(rider(rows), rider(rows)),
                false);
    assertThat(outcomes.getFirst()).isEqualTo(Outcome.ok(1L));
    assertThat(outcomes.getLast()).isInstanceOf(Outcome.Unavailable.class);
    assertThat(batches(second)).isEmpty();
  }

  @Test
  void manyWhoAppendTheSameRowsAtOnceHaveThemOnce() throws Exception {
    int racers = 4;
    for (int round = 0; round < 25; round++) {
      committed("r" + round);
      List<Row> rows = take(ME);
      CountDownLatch go = new CountDownLatch(1);
      List<Future<List<Outcome<Long>>>> answers = new ArrayList<>();
      List<ShardId> journals = new ArrayList<>();
      try (ExecutorService threads = Executors.newFixedThreadPool(racers)) {
        for (int i = 0; i < racers; i++) {
          ShardId shard = shard();
          Rider rider = rider(rows);
          journals.add(shard);
          answers.add(
              threads.submit(
                  () -> {
                    go.await();
                    return append(append(shard, 1, 10), rider);
                  }));
        }
        go.countDown();
        int written = 0;
        for (int i = 0; i < racers; i++) {
          boolean ok = answers.get(i).get().getFirst().isOk();
          written += ok ? 1 : 0;
          assertThat(batches(journals.get(i))).hasSize(ok ? 1 : 0);
        }
        assertThat(written).isEqualTo(1);
      }
    }
  }

  @Test
  void aRefusedJournalLeavesItsRowsAndTheOthersGo() throws SQLException {
    committed("a", "b");
    List<Row> rows = take(ME);
    ShardId stale = shard();
    store.journals().claim(stale, 1, OTHER).orThrow();
    ShardId good = shard();
    List<Outcome<Long>> outcomes =
        store
            .transactions()
            .append(
                List.of(append(stale, 1, 10), append(good, 1, 11)),
                List.of(rider(rows.subList(0, 1)), rider(rows.subList(1, 2))),
                false);
    assertThat(outcomes).containsExactly(new Outcome.Fenced<>(2), Outcome.ok(1L));
    assertThat(store.transactions().find("a").orThrow()).isPresent();
    assertThat(store.records().get("ta").orThrow()).isEmpty();
    assertThat(store.transactions().find("b").orThrow()).isEmpty();
  }

  @Test
  void allOrNothingIsSoForRidersToo() throws SQLException {
    committed("a");
    List<Row> rows = take(ME);
    ShardId stale = shard();
    store.journals().claim(stale, 1, OTHER).orThrow();
    ShardId good = shard();
    List<Outcome<Long>> outcomes =
        store
            .transactions()
            .append(
                List.of(append(good, 1, 11), append(stale, 1, 10)),
                List.of(rider(rows), Rider.NONE),
                true);
    assertThat(outcomes).noneMatch(Outcome::isOk);
    assertThat(batches(good)).isEmpty();
    assertThat(store.transactions().find("a").orThrow()).isPresent();
  }

  @Test
  void anAppendThatWasResolvedAsAbsentTakesNoRowWhenItComesLate() throws SQLException {
    committed("a");
    List<Row> rows = take(ME);
    ShardId shard = shard();
    Append unknown = append(shard, 1, 10);
    assertThat(store.journals().resolve(unknown)).isEqualTo(Outcome.ok(Resolution.ABSENT));
    assertThat(append(unknown, rider(rows)).getFirst().isOk()).isFalse();
    assertThat(store.transactions().find("a").orThrow()).isPresent();
    assertThat(append(append(shard, 2, 12), rider(rows))).containsExactly(Outcome.ok(2L));
    assertThat(store.journals().resolve(append(shard, 2, 12)))
        .isEqualTo(Outcome.ok(Resolution.COMMITTED));
  }

  @Test
  void theBellRingsWithTheCommitAndNotBefore() throws Exception {
    CountDownLatch heard = new CountDownLatch(2); // the first is that of listening
    try (PostgresStore other = PostgresStore.open(options);
        var listening = other.doorbells().listen("inbox", heard::countDown);
        Connection connection = transaction()) {
      while (heard.getCount() > 1) {
        Thread.onSpinWait();
      }
      store.transactions().write(connection, drafts("a"));
      assertThat(heard.await(300, TimeUnit.MILLISECONDS)).isFalse();
      connection.commit();
      assertThat(heard.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(listening).isNotNull();
    }
  }

  @Test
  void aConnectionThatIsNoTransactionOrLeadsElsewhereIsRefused() throws SQLException {
    try (Connection connection = server.connect()) {
      assertThatThrownBy(() -> store.transactions().write(connection, drafts("a")))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("setAutoCommit(false)");
    }
    server.run("drop database if exists elsewhere");
    server.run("create database elsewhere");
    String elsewhere = server.url().replace("/postgres?", "/elsewhere?");
    try (Connection connection = java.sql.DriverManager.getConnection(elsewhere)) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> store.transactions().write(connection, drafts("a")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("expected: one to the database of the store");
    }
  }

  // ---- completions

  private static Completion completion(ShardId shard, long epoch, long nonce) {
    return new Completion(new Place(shard, 5), epoch, nonce, new byte[] {(byte) nonce});
  }

  private Settled settled(ShardId shard) {
    return store.transactions().settle(List.of(new Place(shard, 5))).orThrow().getFirst();
  }

  @Test
  void aCompletionIsThereWithItsCommitAndNeverWithoutIt() throws SQLException {
    ShardId shard = shard();
    try (Connection connection = transaction()) {
      assertThat(store.transactions().complete(connection, completion(shard, 1, 3), null))
          .isEqualTo(Answer.NOTED);
      assertThat(settled(shard)).isEqualTo(new Settled(null, true));
      connection.rollback();
      assertThat(settled(shard)).isEqualTo(new Settled(null, false));
      store.transactions().complete(connection, completion(shard, 1, 4), null);
      connection.commit();
      assertThat(settled(shard).completion().nonce()).isEqualTo(4);
      assertThat(store.transactions().complete(connection, completion(shard, 1, 6), null))
          .isEqualTo(Answer.COMPLETED);
      connection.commit();
    }
    assertThat(settled(shard).completion().nonce()).isEqualTo(4);
    assertThat(settled(shard).completion().outcome()).containsExactly(4);
  }

  @Test
  void onlyTheJobOfAnOpenTransactionWaits() throws SQLException {
    ShardId shard = shard();
    List<Place> places = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      places.add(new Place(shard, i));
    }
    try (Connection open = transaction()) {
      store.transactions().complete(open, completion(shard, 1, 3), null);
      List<Settled> settled = store.transactions().settle(places).orThrow();
      for (int i = 0; i < places.size(); i++) {
        assertThat(settled.get(i).open()).isEqualTo(i == 5);
      }
      open.commit();
    }
    assertThat(settled(shard).completion()).isNotNull();
  }

  @Test
  void whoWasOvertakenByAClaimIsRefusedAndLeavesNothingBehind() throws SQLException {
    ShardId shard = shard();
    try (Connection connection = transaction()) {
      store.journals().claim(shard, 1, OTHER).orThrow();
      assertThat(store.transactions().complete(connection, completion(shard, 1, 3), null))
          .isEqualTo(Answer.STALE);
      connection.commit(); // against all advice
    }
    assertThat(settled(shard)).isEqualTo(new Settled(null, false));
  }

  @Test
  void whoseNodeLostItsPermitIsRefusedAndLeavesNothingBehind() throws SQLException {
    ShardId shard = shard();
    Stamp stamp = new Stamp(OTHER, 1);
    Permit permit = new Permit("e\0permit", stamp);
    Change put = new Change(permit.key(), Stamp.ABSENT, new byte[] {1}, stamp);
    store.records().apply(List.of(put)).getFirst().orThrow();
    try (Connection connection = transaction()) {
      assertThat(store.transactions().complete(connection, completion(shard, 1, 3), permit))
          .isEqualTo(Answer.NOTED);
      connection.rollback();
      Change delete = new Change(permit.key(), stamp, null, new Stamp(OTHER, 2));
      store.records().apply(List.of(delete)).getFirst().orThrow();
      assertThat(store.transactions().complete(connection, completion(shard, 1, 3), permit))
          .isEqualTo(Answer.STALE);
      connection.commit(); // against all advice
    }
    assertThat(settled(shard)).isEqualTo(new Settled(null, false));
  }

  @Test
  void aCompletionBeforeItsPermitIsDeletedIsSeenByWhoDeletesIt() throws SQLException {
    ShardId shard = shard();
    Stamp stamp = new Stamp(OTHER, 3);
    Permit permit = new Permit("e\0other", stamp);
    Change put = new Change(permit.key(), Stamp.ABSENT, new byte[] {1}, stamp);
    store.records().apply(List.of(put)).getFirst().orThrow();
    try (Connection connection = transaction()) {
      assertThat(store.transactions().complete(connection, completion(shard, 1, 3), permit))
          .isEqualTo(Answer.NOTED);
      Change delete = new Change(permit.key(), stamp, null, new Stamp(OTHER, 4));
      store.records().apply(List.of(delete)).getFirst().orThrow();
      assertThat(settled(shard).open()).isTrue();
      connection.commit();
    }
    assertThat(settled(shard).completion()).isNotNull();
  }

  @Test
  void aTransactionThatSeesThePastIsNotFooledByIt() throws SQLException {
    ShardId shard = shard();
    try (Connection connection = transaction()) {
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (var statement = connection.createStatement()) {
        statement.execute("select count(*) from transactions.heads");
      }
      store.journals().claim(shard, 1, OTHER).orThrow();
      assertThatThrownBy(
              () -> store.transactions().complete(connection, completion(shard, 1, 3), null))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("40001");
      connection.rollback();
    }
    assertThat(settled(shard)).isEqualTo(new Settled(null, false));
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        Connection.TRANSACTION_READ_COMMITTED,
        Connection.TRANSACTION_REPEATABLE_READ,
        Connection.TRANSACTION_SERIALIZABLE
      })
  void anOpenCompletionStandsInNoClaimsWayAndIsSeenByTheNextOwner(int isolation)
      throws SQLException {
    ShardId shard = shard();
    try (Connection connection = transaction()) {
      connection.setTransactionIsolation(isolation);
      store.transactions().complete(connection, completion(shard, 1, 3), null);
      assertThat(store.journals().claim(shard, 1, OTHER).isOk()).isTrue();
      assertThat(settled(shard).open()).isTrue();
      connection.commit();
    }
    assertThat(settled(shard).completion().epoch()).isEqualTo(1);
    Append end = new Append(shard, 2, 1, 1, 9, new byte[] {1});
    Rider rider = new Rider(List.of(), List.of(), List.of(new Place(shard, 5)));
    assertThat(append(end, rider)).containsExactly(Outcome.ok(1L));
    assertThat(settled(shard)).isEqualTo(new Settled(null, false));
  }

  @Test
  void whatIsDamagedIsNotTaken() throws SQLException {
    committed("a");
    server.run("update transactions.inbox set body = 'x' where ticket = 'a'");
    assertThat(store.transactions().take(ME, none -> false, 9, 99))
        .isInstanceOf(Outcome.Damaged.class);
    ShardId shard = shard();
    try (Connection connection = transaction()) {
      store.transactions().complete(connection, completion(shard, 1, 3), null);
      connection.commit();
    }
    server.run("update transactions.completions set nonce = 4 where nonce = 3 and job = 5");
    assertThat(store.transactions().settle(List.of(new Place(shard, 5))))
        .isInstanceOf(Outcome.Damaged.class);
  }
}
