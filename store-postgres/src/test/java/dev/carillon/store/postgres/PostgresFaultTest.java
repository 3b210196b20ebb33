package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Append;
import dev.carillon.store.Doorbells;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that crash, connections that break, statements that hang: real ones. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class PostgresFaultTest {

  private static final byte[] NO_WORDS = new byte[0];
  private static final int WRITERS = 4;
  private static final int MAX_TRIES = 10_000;

  /** Appends that must lose their connection before a test of that ends. */
  private static final int CUT_OFF = 3;

  /** Entries of one journal in a group. */
  private static final int GROUP_RUN = 5;

  private final Random random = new Random(7);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  private static PostgresOptions.Builder options(String url, String cluster) {
    return PostgresOptions.at(url).schema("faults").cluster(cluster);
  }

  private ShardId shard() {
    return new ShardId(1, random.nextLong() | 1, 1);
  }

  private static Append append(ShardId shard, long number, long batch) {
    return new Append(shard, 1, 1, number, batch, new byte[] {(byte) batch});
  }

  /** One owner: appends until it is told to stop, and keeps a ledger of what must be there. */
  private static final class Owner {
    final PostgresStore store;
    final ShardId shard;
    final List<Long> ledger = new ArrayList<>();
    final AtomicInteger unknown = new AtomicInteger();
    final AtomicInteger acknowledged = new AtomicInteger();

    Owner(PostgresStore store, ShardId shard) {
      this.store = store;
      this.shard = shard;
      store.journals().create(shard, "home", 0, NO_WORDS).orThrow();
    }

    int appendUntil(AtomicBoolean stop) {
      for (int i = 0; i < MAX_TRIES && !stop.get(); i++) {
        if (appendOnce(i + 1)) {
          acknowledged.incrementAndGet();
        }
      }
      return acknowledged.get();
    }

    /** Answers whether it was acknowledged at once. */
    private boolean appendOnce(long batch) {
      Append append = append(shard, ledger.size() + 1, batch);
      Outcome<Long> outcome = store.journals().append(List.of(append), false).getFirst();
      switch (outcome) {
        case Outcome.Ok<Long> ok -> ledger.add(batch);
        case Outcome.Unavailable<Long> none -> Thread.onSpinWait();
        case Outcome.Unknown<Long> lost -> {
          unknown.incrementAndGet();
          ledger.add(resolve(append) == Resolution.COMMITTED ? batch : 0);
        }
        default -> throw new AssertionError(outcome);
      }
      return outcome.isOk();
    }

    private Resolution resolve(Append append) {
      return Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> store.journals().resolve(append), Outcome::isOk)
          .orThrow();
    }

    void assertHoldsItsLedger() {
      List<Entry> entries =
          store.journals().read(shard, 1, 1, Integer.MAX_VALUE).orThrow().entries();
      List<Entry> all = new ArrayList<>(entries);
      while (all.size() < ledger.size() && !entries.isEmpty()) {
        entries =
            store.journals().read(shard, 1, all.size() + 1, Integer.MAX_VALUE).orThrow().entries();
        all.addAll(entries);
      }
      assertThat(all.stream().map(Entry::batch)).containsExactlyElementsOf(ledger);
    }
  }

  @Test
  void aServerThatCrashesUnderAppendsLosesNothingAcknowledged() throws Exception {
    try (PostgresServer server = PostgresServer.start("crash");
        PostgresStore store = PostgresStore.open(options(server.url(), "crash").build())) {
      List<Owner> owners = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        owners.add(new Owner(store, shard()));
      }
      for (int round = 0; round < 3; round++) {
        AtomicBoolean stop = new AtomicBoolean();
        List<Future<Integer>> running = new ArrayList<>();
        for (Owner owner : owners) {
          running.add(threads.submit(() -> owner.appendUntil(stop)));
        }
        int before = owners.getFirst().ledger.size();
        Awaitility.await().until(() -> owners.getFirst().ledger.size() > before + 50);
        server.crash();
        stop.set(true);
        server.restart();
        for (Future<Integer> future : running) {
          assertThat(future.get()).isPositive();
        }
        owners.forEach(Owner::assertHoldsItsLedger);
      }
      assertThat(owners.stream().mapToInt(owner -> owner.unknown.get()).sum())
          .as("appends cut off by a crash")
          .isPositive();
    }
  }

  @Test
  void aGroupCutOffByACrashIsThereWhollyOrNotAtAll() throws Exception {
    try (PostgresServer server = PostgresServer.start("groups");
        PostgresStore store = PostgresStore.open(options(server.url(), "groups").build())) {
      for (int round = 0; round < 3; round++) {
        List<ShardId> shards = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          shards.add(shard());
          store.journals().create(shards.getLast(), "home", 0, NO_WORDS).orThrow();
        }
        AtomicInteger written = new AtomicInteger();
        Future<Integer> writer = threads.submit(() -> writeGroups(store, shards, written));
        Awaitility.await().until(() -> written.get() > 20);
        server.crash();
        int acknowledged = writer.get();
        server.restart();
        Set<Long> tails = new HashSet<>();
        for (ShardId shard : shards) {
          Claim claim =
              Awaitility.await()
                  .until(() -> store.journals().claim(shard, 1, 7), Outcome::isOk)
                  .orThrow();
          tails.add(claim.tail());
        }
        assertThat(tails).as("tails of journals that were always written together").hasSize(1);
        assertThat(tails.iterator().next())
            .isIn((long) acknowledged * GROUP_RUN, (acknowledged + 1L) * GROUP_RUN);
      }
    }
  }

  /** Appends to all of the shards, all or nothing, until something breaks. */
  private static int writeGroups(PostgresStore store, List<ShardId> shards, AtomicInteger written) {
    for (int groups = 0; groups < MAX_TRIES; groups++) {
      List<Append> group = new ArrayList<>();
      for (ShardId shard : shards) {
        for (int i = 1; i <= GROUP_RUN; i++) {
          long number = (long) groups * GROUP_RUN + i;
          group.add(new Append(shard, 1, 1, number, number, new byte[2_000]));
        }
      }
      if (!store.journals().append(group, true).stream().allMatch(Outcome::isOk)) {
        return groups;
      }
      written.incrementAndGet();
    }
    throw new AssertionError("nothing broke");
  }

  @Test
  void connectionsThatAreTerminatedUnderAppendsLoseNothing() throws Exception {
    PostgresServer server = PostgresServer.shared();
    try (PostgresStore store = PostgresStore.open(options(server.url(), "terminated").build())) {
      List<Owner> owners = new ArrayList<>();
      AtomicBoolean stop = new AtomicBoolean();
      List<Future<Integer>> running = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        Owner owner = new Owner(store, shard());
        owners.add(owner);
        running.add(threads.submit(() -> owner.appendUntil(stop)));
      }
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .pollInterval(Duration.ofMillis(5))
          .until(
              () -> {
                server.run(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                        + " where application_name = 'carillon' and state = 'active' limit 2");
                return owners.stream().allMatch(owner -> owner.acknowledged.get() > 0)
                    && owners.stream().mapToInt(owner -> owner.unknown.get()).sum() >= CUT_OFF;
              });
      stop.set(true);
      for (Future<Integer> future : running) {
        assertThat(future.get()).isPositive();
      }
      owners.forEach(Owner::assertHoldsItsLedger);
    }
  }

  @Test
  void aRecordWhoseAnswerIsLostIsResolved() throws Exception {
    PostgresServer server = PostgresServer.shared();
    try (PostgresStore store = PostgresStore.open(options(server.url(), "records").build());
        Connection other = server.connect()) {
      Stamp first = new Stamp(5, 1);
      store.records().apply(List.of(new Change("k", Stamp.ABSENT, new byte[1], first)));
      other.setAutoCommit(false);
      hold(other, "select 1 from faults.records for update");
      Change second = new Change("k", first, new byte[2], new Stamp(5, 2));
      Outcome<Stamp> cutOff = store.records().apply(List.of(second)).getFirst();
      assertThat(cutOff).isInstanceOf(Outcome.Unknown.class);
      other.rollback();
      assertThat(store.records().resolve(second)).isEqualTo(Outcome.ok(false));
      assertThat(store.records().apply(List.of(second))).containsExactly(new Outcome.Fenced<>(2));
    }
  }

  private static void hold(Connection connection, String lock) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(lock);
    }
  }

  @Test
  void aStatementThatWaitsTooLongIsCancelledAndResolved() throws Exception {
    PostgresServer server = PostgresServer.shared();
    PostgresOptions options =
        options(server.url(), "timeout").statementTimeout(Duration.ofMillis(300)).build();
    try (PostgresStore store = PostgresStore.open(options);
        Connection other = server.connect()) {
      ShardId shard = shard();
      store.journals().create(shard, "home", 0, NO_WORDS).orThrow();
      other.setAutoCommit(false);
      hold(other, "select 1 from faults.heads where shard = '" + shard + "' for update");
      Append append = append(shard, 1, 9);
      assertThat(store.journals().append(List.of(append), false).getFirst())
          .isInstanceOf(Outcome.Unknown.class);
      assertThat(store.journals().resolve(append)).isInstanceOf(Outcome.Unavailable.class);
      assertThat(store.journals().claim(shard, 1, 3)).isInstanceOf(Outcome.Unavailable.class);
      other.rollback();
      assertThat(store.journals().resolve(append)).isEqualTo(Outcome.ok(Resolution.ABSENT));
      assertThat(store.journals().append(List.of(append), false))
          .containsExactly(new Outcome.Conflict<>(1));
    }
  }

  @Test
  void aPausedOwnersTransactionIsEndedAndItsShardTakenOver() throws Exception {
    PostgresServer server = PostgresServer.shared();
    PostgresOptions options =
        options(server.url(), "paused").statementTimeout(Duration.ofMillis(500)).build();
    try (PostgresStore paused = PostgresStore.open(options);
        PostgresStore other = PostgresStore.open(options(server.url(), "paused").build())) {
      ShardId shard = shard();
      paused.journals().create(shard, "home", 0, NO_WORDS).orThrow();
      CountDownLatch locked = new CountDownLatch(1);
      CountDownLatch continued = new CountDownLatch(1);
      Future<Outcome<Boolean>> pausedWrite =
          threads.submit(
              () ->
                  paused
                      .cluster()
                      .database()
                      .write(
                          session -> {
                            Tables tables = paused.cluster().tables(session);
                            HeadRow row = tables.lockHead(shard);
                            locked.countDown();
                            awaitOrFail(continued);
                            tables.update(row.with(row.head().sealedWith(NO_WORDS)));
                            return Outcome.ok(true);
                          }));
      awaitOrFail(locked);
      Claim claim = other.journals().claim(shard, 1, 7).orThrow();
      continued.countDown();
      assertThat(pausedWrite.get()).isInstanceOf(Outcome.Unavailable.class);
      assertThat(claim.head().epoch()).isEqualTo(2);
      assertThat(other.journals().head(shard).orThrow().status()).isEqualTo(Head.Status.OPEN);
      assertThat(paused.journals().append(List.of(append(shard, 1, 9)), false))
          .containsExactly(new Outcome.Fenced<>(2));
    }
  }

  private static void awaitOrFail(CountDownLatch latch) {
    try {
      assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aServerThatIsGoneIsUnavailableAndComesBack() {
    try (PostgresServer server = PostgresServer.start("gone");
        PostgresStore store =
            PostgresStore.open(
                options(server.url(), "gone").statementTimeout(Duration.ofMillis(500)).build())) {
      Owner owner = new Owner(store, shard());
      owner.appendOnce(1);
      server.crash();
      Append second = append(owner.shard, 2, 2);
      Outcome<Long> cutOff = store.journals().append(List.of(second), false).getFirst();
      assertThat(cutOff).isInstanceOfAny(Outcome.Unavailable.class, Outcome.Unknown.class);
      assertThat(store.journals().head(owner.shard)).isInstanceOf(Outcome.Unavailable.class);
      assertThat(store.journals().claim(owner.shard, 1, 3)).isInstanceOf(Outcome.Unavailable.class);
      server.restart();
      assertThat(owner.resolve(second)).isEqualTo(Resolution.ABSENT);
      assertThat(store.journals().head(owner.shard).isOk()).isTrue();
    }
  }

  @Test
  void listenersAreRungWhenTheirConnectionIsBack() {
    PostgresServer server = PostgresServer.shared();
    try (PostgresStore store = PostgresStore.open(options(server.url(), "bells").build())) {
      AtomicInteger heard = new AtomicInteger();
      try (Doorbells.Listening listening =
          store.doorbells().listen("mail", heard::incrementAndGet)) {
        assertThat(listening).isNotNull();
        Awaitility.await().until(() -> heard.get() > 0);
        int before = heard.get();
        server.run(
            "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'");
        Awaitility.await().until(() -> heard.get() > before);
      }
      int after = heard.get();
      store.doorbells().ring("mail");
      assertThat(heard.get()).isEqualTo(after);
    }
  }
}
