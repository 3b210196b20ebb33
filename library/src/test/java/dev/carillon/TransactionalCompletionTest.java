package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.CancelResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StaleAttemptException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Head;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A row of business and the outcome of its job: both or neither. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class TransactionalCompletionTest {
  private static final JobType<Integer, String> BOOK =
      JobType.of("book", Integer.class, String.class);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final AtomicInteger CLUSTERS = new AtomicInteger();
  private static final FailurePolicy AT_ONCE = FailurePolicy.constant(Duration.ZERO, 5);

  private final PostgresServer server = PostgresServer.shared();
  private final String cluster = "complete" + CLUSTERS.incrementAndGet();
  private final List<Carillon> open = new ArrayList<>();
  private final CountDownLatch resumed = new CountDownLatch(1);
  private final CompletableFuture<Boolean> commits = new CompletableFuture<>();
  private Carillon carillon;

  private Carillon open() {
    Carillon opened =
        Carillon.builder()
            .url(server.url())
            .cluster(cluster)
            .closeGrace(Duration.ofMillis(200))
            .daemon(true)
            .open();
    open.add(opened);
    return opened;
  }

  @BeforeEach
  void begin() {
    server.run(
        "create table if not exists booked(number int); truncate booked;"
            + "create table if not exists again(number int); truncate again");
    carillon = open();
  }

  @AfterEach
  void end() {
    resumed.countDown();
    commits.complete(false);
    open.reversed().forEach(Carillon::close);
  }

  private Connection transaction() throws SQLException {
    Connection connection = server.connect();
    connection.setAutoCommit(false);
    return connection;
  }

  private static void book(Connection connection, int number) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("insert into booked values (" + number + ")");
    }
  }

  private long count(String sql) {
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private long booked() {
    return count("select count(*) from booked");
  }

  /** Completions that lie about: none, once everything has ended. */
  private long left() {
    return count(
        "select count(*) from carillon.completions r join carillon.clusters c on c.id = r.cluster"
            + " where c.name = '"
            + cluster
            + "'");
  }

  private long rowsInInbox() {
    return count(
        "select count(*) from carillon.inbox r join carillon.clusters c on c.id = r.cluster"
            + " where c.name = '"
            + cluster
            + "'");
  }

  private static Job<String> job(int number) {
    return BOOK.job(number).onFailure(AT_ONCE);
  }

  @Test
  void whatIsCommittedIsTheOutcomeWhateverTheHandlerReturns() {
    carillon.handle(
        BOOK,
        (number, job) -> {
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "committed");
            connection.commit();
          }
          return "returned";
        });
    assertThat(carillon.schedule(job(1)).result(WAIT)).isEqualTo("committed");
    assertThat(booked()).isEqualTo(1);
    assertThat(left()).isZero();
  }

  @Test
  void aHandlerThatReturnsAfterARollbackHasFailedAndIsTriedAgain() {
    AtomicInteger calls = new AtomicInteger();
    carillon.handle(
        BOOK,
        (number, job) -> {
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "call " + calls.incrementAndGet());
            if (calls.get() == 1) {
              connection.rollback();
            } else {
              connection.commit();
            }
          }
          return "returned";
        });
    JobHandle<String> job = carillon.schedule(job(1));
    assertThat(job.result(WAIT)).isEqualTo("call 2");
    JobInfo info = job.info();
    assertThat(info.attempt()).isEqualTo(2);
    assertThat(carillon.history(job.id()).orElseThrow().events().toString())
        .contains("transaction not committed");
    assertThat(booked()).isEqualTo(1);
    assertThat(left()).isZero();
  }

  @Test
  void aHandlerThatThrowsAfterTheCommitHasSucceeded() {
    AtomicInteger calls = new AtomicInteger();
    carillon.handle(
        BOOK,
        (number, job) -> {
          calls.incrementAndGet();
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "done");
            connection.commit();
          }
          throw new IllegalStateException("afterwards");
        });
    assertThat(carillon.schedule(job(1)).result(WAIT)).isEqualTo("done");
    assertThat(calls).hasValue(1);
    assertThat(booked()).isEqualTo(1);
  }

  @Test
  void whatIsThrownInTheTransactionIsTheFailure() {
    carillon.handle(
        BOOK,
        (number, job) -> {
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "done");
            throw new IllegalStateException("changed my mind");
          }
        });
    JobHandle<String> job = carillon.schedule(BOOK.job(1).onFailure(FailurePolicy.drop()));
    Awaitility.await().until(() -> job.info().state() == JobState.FAILED);
    assertThat(job.info().lastError().message()).isEqualTo("changed my mind");
    assertThat(booked()).isZero();
    assertThat(left()).isZero();
  }

  @Test
  void aJobIsCompletedOnce() {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    carillon.handle(
        BOOK,
        (number, job) -> {
          try (Connection connection = transaction()) {
            job.completeIn(connection, "first");
            try {
              job.completeIn(connection, "second");
            } catch (IllegalStateException e) {
              thrown.complete(e);
            }
            connection.commit();
          }
          return "";
        });
    assertThat(carillon.schedule(job(1)).result(WAIT)).isEqualTo("first");
    assertThat(thrown.join()).hasMessageContaining("completed already");
  }

  @Test
  void aTransactionThatOutlivesTheTimeoutStillCounts() throws Exception {
    CountDownLatch commit = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    carillon.handle(
        BOOK,
        (number, job) -> {
          calls.incrementAndGet();
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "late");
            awaitWhatever(commit);
            connection.commit();
          }
          return "returned";
        });
    JobHandle<String> job = carillon.schedule(job(1).timeout(Duration.ofMillis(100)));
    JobHandle<String> other = carillon.schedule(job(2).in(Duration.ofMillis(300)));
    Awaitility.await().until(() -> carillon.node().stats().waitingForTransactions() == 1);
    assertThat(job.info().state()).isEqualTo(JobState.RUNNING);
    Awaitility.await().until(() -> other.info().state() == JobState.RUNNING); // it does not wait
    commit.countDown();
    assertThat(job.result(WAIT)).isEqualTo("late");
    assertThat(other.result(WAIT)).isEqualTo("late");
    assertThat(calls).hasValue(2);
    assertThat(booked()).isEqualTo(2);
    assertThat(left()).isZero();
    assertThat(carillon.node().stats().waitingForTransactions()).isZero();
  }

  private static void awaitWhatever(CountDownLatch latch) {
    boolean interrupted = false;
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.interrupted();
    }
  }

  @Test
  void aTimeoutWhoseTransactionIsRolledBackIsATimeout() {
    AtomicInteger calls = new AtomicInteger();
    carillon.handle(
        BOOK,
        (number, job) -> {
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "call " + calls.incrementAndGet());
            if (calls.get() == 1) {
              new CountDownLatch(1).await(); // until it is interrupted
            }
            connection.commit();
          }
          return "";
        });
    JobHandle<String> job = carillon.schedule(job(1).timeout(Duration.ofMillis(200)));
    assertThat(job.result(WAIT)).isEqualTo("call 2");
    assertThat(carillon.history(job.id()).orElseThrow().events().toString()).contains("timeout");
    assertThat(booked()).isEqualTo(1);
  }

  @Test
  void anAttemptWhoseTimeIsOverCannotComplete() {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    CountDownLatch second = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    carillon.handle(
        BOOK,
        (number, job) -> {
          if (calls.incrementAndGet() > 1) {
            second.countDown();
            return "second";
          }
          awaitWhatever(second);
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "first");
            connection.commit();
          } catch (StaleAttemptException e) {
            thrown.complete(e);
          }
          return "";
        });
    JobHandle<String> job = carillon.schedule(job(1).timeout(Duration.ofMillis(100)));
    assertThat(job.result(WAIT)).isEqualTo("second");
    assertThat(thrown.join()).isInstanceOf(StaleAttemptException.class);
    assertThat(booked()).isZero();
  }

  @Test
  void eachTimeOfARecurringJobIsCompleted() throws Exception {
    TaskType<Integer> tick = TaskType.of("tick", Integer.class);
    carillon.handle(
        tick,
        (number, job) -> {
          try (Connection connection = transaction()) {
            book(connection, Math.toIntExact(job.occurrence().number()));
            job.completeIn(connection);
            connection.commit();
          }
        });
    JobHandle<Void> job =
        carillon.schedule(tick.job(0).on(Schedule.every(Duration.ofMillis(20)).times(5)));
    Awaitility.await().until(() -> job.info().state().ended());
    assertThat(booked()).isEqualTo(5);
    assertThat(count("select count(distinct number) from booked")).isEqualTo(5);
    assertThat(left()).isZero();
  }

  @Test
  void whoseShardWasClaimedByAnotherCannotComplete() throws Exception {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch claimed = new CountDownLatch(1);
    carillon.handle(
        BOOK,
        (number, job) -> {
          running.countDown();
          awaitWhatever(claimed); // as if the process were paused here
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "zombie");
            connection.commit();
          } catch (StaleAttemptException e) {
            thrown.complete(e);
          }
          return "";
        });
    carillon.schedule(job(1));
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
    try (Store store =
        Stores.open(new StoreAddress(server.url(), null, Map.of("cluster", cluster)))) {
      for (Head head : store.journals().listById(null, 100).orThrow()) {
        store.journals().claim(head.shard(), head.epoch(), 4711).orThrow();
      }
    }
    claimed.countDown();
    assertThat(thrown.get(20, TimeUnit.SECONDS)).isInstanceOf(StaleAttemptException.class);
    assertThat(booked()).isZero();
    assertThat(left()).isZero();
  }

  /**
   * Runs a handler that has written everything and holds its transaction open, on a node that then
   * stands still, as in a long pause: after a while it is taken over.
   */
  private JobHandle<String> heldOpen() throws InterruptedException {
    CountDownLatch written = new CountDownLatch(1);
    carillon.handle(
        BOOK,
        (number, job) -> {
          try (Connection connection = transaction()) {
            book(connection, number);
            job.completeIn(connection, "by the first owner");
            written.countDown();
            if (whatever(commits)) {
              connection.commit();
            } else {
              connection.rollback();
            }
          }
          return "";
        });
    JobHandle<String> job = carillon.schedule(job(1));
    assertThat(written.await(20, TimeUnit.SECONDS)).isTrue();
    carillon.loop().post(new OnNode(carillon.loop(), node -> awaitWhatever(resumed)));
    return job;
  }

  /** It is asked to stop meanwhile, and does not. */
  private static boolean whatever(CompletableFuture<Boolean> future) {
    return future.join();
  }

  private static String again(Integer number, JobContext job) {
    return "by the second owner";
  }

  @Test
  void theNextOwnerWaitsForAnOpenTransactionAndTakesItsOutcome() throws Exception {
    JobHandle<String> job = heldOpen();
    Carillon next = open();
    next.handle(BOOK, TransactionalCompletionTest::again);
    Awaitility.await().atMost(WAIT).until(() -> next.node().stats().waitingForTransactions() == 1);
    assertThat(next.schedule(job(2)).result(WAIT)).isEqualTo("by the second owner");
    commits.complete(true);
    assertThat(next.result(job.id(), BOOK.output(), WAIT)).isEqualTo("by the first owner");
    assertThat(booked()).isEqualTo(1);
    assertThat(left()).isZero();
  }

  @Test
  void theNextOwnerRunsWhatWasRolledBack() throws Exception {
    JobHandle<String> job = heldOpen();
    Carillon next = open();
    next.handle(BOOK, TransactionalCompletionTest::again);
    Awaitility.await().atMost(WAIT).until(() -> next.node().stats().waitingForTransactions() == 1);
    commits.complete(false);
    assertThat(next.result(job.id(), BOOK.output(), WAIT)).isEqualTo("by the second owner");
    assertThat(booked()).isZero();
  }

  @Test
  void aCancelByTheNextOwnerWaitsForTheOutcomeToo() throws Exception {
    JobHandle<String> job = heldOpen();
    Carillon next = open(); // without the handler: the job waits for one
    Awaitility.await()
        .atMost(WAIT)
        .until(() -> next.get(job.id()).orElseThrow().state() == JobState.BLOCKED);
    CompletableFuture<CancelResult> cancelled =
        CompletableFuture.supplyAsync(() -> next.cancel(job.id(), "no longer"));
    Awaitility.await().atMost(WAIT).until(() -> next.node().stats().waitingForTransactions() == 1);
    commits.complete(true);
    assertThat(cancelled.get(20, TimeUnit.SECONDS))
        .isEqualTo(new CancelResult.Ended(JobState.SUCCEEDED));
    assertThat(left()).isZero();
  }

  @Test
  void aStoreWithoutTransactionsSaysSo() throws Exception {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    try (Carillon memory = Carillon.builder().inMemory().daemon(true).open()) {
      memory.handle(
          BOOK,
          (number, job) -> {
            try (Connection connection = transaction()) {
              job.completeIn(connection, "");
            } catch (InvalidArgumentException e) {
              thrown.complete(e);
            }
            return "went on";
          });
      assertThat(memory.schedule(job(1)).result(WAIT)).isEqualTo("went on");
    }
    assertThat(thrown.join()).hasMessageContaining("such as PostgreSQL");
    assertThatThrownBy(
            () -> {
              throw thrown.join();
            })
        .isInstanceOf(InvalidArgumentException.class);
  }

  // ---- killed at any line

  @Test
  void killedAtAnyLineBothAreThereOrNeither() throws Exception {
    int jobs = 400;
    int kills = Integer.getInteger("carillon.kills", 5);
    Random random = new Random(5);
    carillon.close();
    for (int i = 0; i < kills; i++) {
      long before = booked();
      write(i * jobs / kills, (i + 1) * jobs / kills); // in the inbox, since nobody runs
      Process child = start();
      long target = before + 1 + random.nextInt(jobs / kills);
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(1))
          .until(() -> booked() >= target);
      child.destroyForcibly().waitFor();
    }
    carillon = CompletingChild.open(server.url(), cluster);
    open.add(carillon);
    CompletingChild.handle(carillon, server.url());
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> booked() >= jobs);
    assertThat(rowsInInbox()).isZero();
    var all = dev.carillon.api.JobQuery.all().limit(1_000);
    Awaitility.await()
        .atMost(WAIT)
        .until(
            () ->
                carillon.list(all).items().stream()
                    .allMatch(job -> job.state() == JobState.SUCCEEDED));
    assertThat(carillon.list(all).items()).hasSize(jobs);
    assertThat(booked()).isEqualTo(jobs);
    assertThat(count("select count(distinct number) from booked")).isEqualTo(jobs);
    assertThat(left()).isZero();
    assertThat(count("select count(*) from again")).as("called for what was done").isZero();
  }

  /** Has jobs committed with nobody there to take them. */
  private void write(int from, int to) throws SQLException {
    List<Job<Void>> jobs = new ArrayList<>();
    for (int i = from; i < to; i++) {
      jobs.add(CompletingChild.BOOK.job(i));
    }
    try (Connection connection = transaction()) {
      try (Carillon writer = CompletingChild.open(server.url(), cluster)) {
        writer.scheduleAll(connection, jobs);
      }
      connection.commit();
    }
  }

  private Process start() throws Exception {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                CompletingChild.class.getName(),
                server.url(),
                cluster)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    var out =
        new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8));
    assertThat(out.readLine()).isEqualTo("ready");
    return child;
  }
}
