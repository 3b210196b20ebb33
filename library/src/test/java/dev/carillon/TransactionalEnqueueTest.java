package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.Subscription;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.BatchTooLargeException;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.fixture.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that come to be with a commit of the user's, and not without it. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class TransactionalEnqueueTest {
  private static final JobType<String, Integer> LENGTH =
      JobType.of("length", String.class, Integer.class);
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final AtomicInteger CLUSTERS = new AtomicInteger();

  private final PostgresServer server = PostgresServer.shared();
  private final String cluster = "enqueue" + CLUSTERS.incrementAndGet();
  private Carillon carillon;
  private Connection connection;

  private Carillon open() {
    return builder().open();
  }

  private CarillonBuilder builder() {
    return Carillon.builder().url(server.url()).cluster(cluster).daemon(true);
  }

  @BeforeEach
  void begin() throws SQLException {
    carillon = open();
    connection = server.connect();
    connection.setAutoCommit(false);
  }

  @AfterEach
  void end() throws SQLException {
    connection.close();
    carillon.close();
  }

  private String text(String sql) throws SQLException {
    try (Connection other = server.connect();
        Statement statement = other.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  private String rowsInInbox() throws SQLException {
    return text(
        "select count(*) from carillon.inbox i join carillon.clusters c on c.id = i.cluster"
            + " where c.name = '"
            + cluster
            + "'");
  }

  @Test
  void aJobRunsAfterTheCommitAndItsIdStaysTheSame() throws SQLException {
    Set<JobId> ran = ConcurrentHashMap.newKeySet();
    carillon.handle(
        LENGTH,
        (input, job) -> {
          ran.add(job.id());
          return input.length();
        });
    JobHandle<Integer> job = carillon.schedule(connection, LENGTH.job("four"));
    assertThat(carillon.get(job.id())).as("before the commit").isEmpty();
    connection.commit();
    assertThat(job.result(WAIT)).isEqualTo(4);
    assertThat(ran).containsExactly(job.id());
    JobInfo info = job.info();
    assertThat(info.id()).isEqualTo(job.id());
    assertThat(info.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(carillon.list(JobQuery.all()).items()).containsExactly(info);
    assertThat(carillon.history(job.id()).orElseThrow().events()).isNotEmpty();
    assertThat(carillon.cancel(job.id(), "")).isInstanceOf(CancelResult.Ended.class);
    assertThat(rowsInInbox()).isEqualTo("0");
  }

  @Test
  void aRollbackLeavesNothing() throws SQLException {
    JobHandle<Integer> job = carillon.schedule(connection, LENGTH.job("never"));
    connection.rollback();
    JobHandle<Integer> after = carillon.schedule(connection, LENGTH.job("after"));
    connection.commit();
    assertThat(after.info().state()).isEqualTo(JobState.SCHEDULED);
    assertThat(carillon.get(job.id())).isEmpty();
    assertThat(carillon.history(job.id())).isEmpty();
    assertThat(job.cancel("")).isInstanceOf(CancelResult.NotFound.class);
    assertThatThrownBy(() -> job.watch(info -> {})).isInstanceOf(JobNotFoundException.class);
    assertThatThrownBy(() -> job.result(WAIT)).isInstanceOf(JobNotFoundException.class);
    assertThat(job.resultAsync())
        .failsWithin(WAIT)
        .withThrowableThat()
        .withCauseInstanceOf(JobNotFoundException.class);
  }

  @Test
  void itIsTakenWithinATenthOfASecondOfTheCommit() throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    AtomicInteger ran = new AtomicInteger();
    carillon.handle(
        NOTE,
        (input, job) -> {
          first.countDown();
          ran.incrementAndGet();
        });
    carillon.schedule(connection, NOTE.job("warm up"));
    connection.commit();
    assertThat(first.await(20, TimeUnit.SECONDS)).isTrue();
    List<Long> millis = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      carillon.schedule(connection, NOTE.job("on time"));
      connection.commit();
      long committed = System.nanoTime();
      int expected = i + 1;
      Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> ran.get() == expected);
      millis.add((System.nanoTime() - committed) / 1_000_000);
    }
    Collections.sort(millis);
    assertThat(millis.get(10)).as("of %s", millis).isLessThanOrEqualTo(100);
  }

  @Test
  void withoutAPushItIsTakenByAPoll() throws SQLException {
    carillon.close();
    carillon = builder().advanced(a -> a.storeOption("push", "false")).open();
    carillon.handle(LENGTH, (input, job) -> input.length());
    JobHandle<Integer> job = carillon.schedule(connection, LENGTH.job("polled"));
    connection.commit();
    assertThat(job.result(WAIT)).isEqualTo(6);
  }

  @Test
  void untilItIsTakenItIsSeenAsScheduledAndWhoChangesItWaits() throws SQLException {
    JobHandle<Integer> job;
    try (Connection other = server.connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("lock table carillon.records in exclusive mode"); // nothing is taken now
      job = carillon.schedule(connection, LENGTH.job("x").in(Duration.ofDays(2)).meta("a", "b"));
      connection.commit();
      JobInfo info = job.info();
      assertThat(info.id()).isEqualTo(job.id());
      assertThat(info.state()).isEqualTo(JobState.SCHEDULED);
      assertThat(info.metadata()).containsEntry("a", "b");
      assertThat(carillon.history(job.id()).map(JobHistory::job)).contains(info);
      assertThat(rowsInInbox()).isEqualTo("1");
      other.rollback();
    }
    assertThat(job.cancel("no longer")).isInstanceOf(CancelResult.Cancelled.class);
    assertThat(job.info().state()).isEqualTo(JobState.CANCELLED);
    assertThat(job.info().id()).isEqualTo(job.id());
    assertThat(rowsInInbox()).isEqualTo("0");
  }

  @Test
  void everyCallKnowsItByItsId() throws Exception {
    JobHandle<Integer> job =
        carillon.schedule(connection, LENGTH.job("controlled").in(Duration.ofDays(1)));
    connection.commit();
    CountDownLatch ended = new CountDownLatch(1);
    Subscription watching =
        job.watch(
            info -> {
              if (info.state().ended() && info.id().equals(job.id())) {
                ended.countDown();
              }
            });
    assertThat(carillon.pause(job.id(), "wait")).isEqualTo(ControlResult.DONE);
    assertThat(job.info().state()).isEqualTo(JobState.PAUSED);
    assertThat(carillon.resume(job.id())).isEqualTo(ControlResult.DONE);
    JobHandle<Integer> after = carillon.schedule(LENGTH.job("after").after(job.id()));
    assertThat(after.info().dependencies()).hasSize(1);
    carillon.handle(LENGTH, (input, context) -> input.length());
    assertThat(carillon.reschedule(job.id(), java.time.Instant.now()))
        .isEqualTo(ControlResult.DONE);
    assertThat(job.resultAsync().get(20, TimeUnit.SECONDS)).isEqualTo(10);
    assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    watching.close();
    assertThat(after.result(WAIT)).isEqualTo(5);
  }

  @Test
  void aDeadLetterKeepsItsIdWhenItIsReplayed() throws SQLException {
    AtomicInteger calls = new AtomicInteger();
    carillon.handle(
        LENGTH,
        (input, job) -> {
          if (calls.incrementAndGet() == 1) {
            throw new dev.carillon.api.error.NotRetryableException("not today");
          }
          return input.length();
        });
    JobHandle<Integer> job = carillon.schedule(connection, LENGTH.job("again"));
    connection.commit();
    Awaitility.await().until(() -> job.info().state() == JobState.DEAD);
    assertThat(carillon.deadLetters().replay(job.id())).isEqualTo(ControlResult.DONE);
    assertThat(job.result(WAIT)).isEqualTo(5);
    assertThat(job.info().id()).isEqualTo(job.id());
  }

  @Test
  void manyJobsOfOneTransactionComeInOrderAndAllOfThem() throws SQLException {
    Set<String> ran = ConcurrentHashMap.newKeySet();
    carillon.handle(NOTE, (input, job) -> ran.add(input));
    List<Job<Void>> jobs = new ArrayList<>();
    for (int i = 0; i < 2_500; i++) {
      jobs.add(NOTE.job("n" + i));
    }
    List<JobHandle<?>> handles = carillon.scheduleAll(connection, jobs);
    assertThat(handles.stream().map(JobHandle::id).distinct()).hasSize(2_500);
    connection.commit();
    Awaitility.await().atMost(WAIT).until(() -> ran.size() == 2_500);
    Awaitility.await().until(() -> rowsInInbox().equals("0"));
    assertThat(handles.getLast().info().state().ended()).isTrue();
  }

  @Test
  void aRecurringJobMayBeWrittenInATransaction() throws Exception {
    CountDownLatch twice = new CountDownLatch(2);
    carillon.handle(NOTE, (input, job) -> twice.countDown());
    JobHandle<Void> job =
        carillon.schedule(connection, NOTE.job("tick").on(Schedule.every(Duration.ofMillis(50))));
    connection.commit();
    assertThat(twice.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(job.cancel("enough")).isNotInstanceOf(CancelResult.NotFound.class);
  }

  @Test
  void anotherNodeFindsWhatWasCommittedWhileNoneRan() throws SQLException {
    JobHandle<Integer> job = carillon.schedule(connection, LENGTH.job("later"));
    carillon.close();
    connection.commit();
    assertThat(rowsInInbox()).isEqualTo("1");
    carillon = open();
    carillon.handle(LENGTH, (input, context) -> input.length());
    assertThat(carillon.result(job.id(), LENGTH.output(), WAIT)).isEqualTo(5);
    carillon.close();
    carillon = open();
    assertThat(carillon.get(job.id()).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void whatADeadNodeTookIsTakenAgain() throws SQLException {
    carillon.close();
    try (var store =
        dev.carillon.store.Stores.open(
            new dev.carillon.store.StoreAddress(
                server.url(), null, java.util.Map.of("cluster", cluster)))) {
      JobId id;
      try (Carillon writer = open()) {
        id = writer.schedule(connection, LENGTH.job("taken")).id();
      }
      connection.commit();
      assertThat(store.transactions().take(4711, none -> false, 10, 100_000).orThrow()).hasSize(1);
      carillon = open();
      carillon.handle(LENGTH, (input, context) -> input.length());
      assertThat(carillon.result(id, LENGTH.output(), WAIT)).isEqualTo(5);
    }
  }

  // ---- what is refused

  @Test
  void whatOnlyANodeCouldDecideIsRefusedAtOnce() {
    assertThatThrownBy(() -> carillon.schedule(connection, LENGTH.job("x").named("name")))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("name: name (expected: none for a job in a transaction)");
    assertThatThrownBy(() -> carillon.schedule(connection, LENGTH.job("x").key("key")))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("key");
    assertThatThrownBy(() -> carillon.schedule(connection, LENGTH.job("x").after(new JobId("j1"))))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("dependencies");
  }

  @Test
  void whatIsNotAcceptableIsRefusedBeforeAnythingIsWritten() throws SQLException {
    assertThatThrownBy(() -> carillon.schedule(connection, LENGTH.job("x".repeat(2 << 20))))
        .isInstanceOf(InvalidJobException.class);
    assertThatThrownBy(
            () -> carillon.scheduleAll(connection, Collections.nCopies(10_001, LENGTH.job("x"))))
        .isInstanceOf(BatchTooLargeException.class);
    String large = "x".repeat(1_000_000);
    assertThatThrownBy(
            () -> carillon.scheduleAll(connection, Collections.nCopies(9, LENGTH.job(large))))
        .isInstanceOf(BatchTooLargeException.class);
    TaskType<Object> odd = TaskType.of("odd", Object.class);
    List<Object> endless = new ArrayList<>();
    endless.add(endless);
    assertThatThrownBy(() -> carillon.schedule(connection, odd.job(endless)))
        .isInstanceOf(CodecException.class);
    connection.commit();
    assertThat(rowsInInbox()).isEqualTo("0");
  }

  @Test
  void aConnectionWithoutATransactionIsRefused() throws SQLException {
    connection.setAutoCommit(true);
    assertThatThrownBy(() -> carillon.schedule(connection, LENGTH.job("x")))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("setAutoCommit(false)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory:", "jdbc:sqlite:target/no-transactions.db"})
  void aStoreWithoutTransactionsSaysSo(String url) {
    try (Carillon other = Carillon.builder().url(url).daemon(true).open()) {
      assertThatThrownBy(() -> other.schedule(connection, LENGTH.job("x")))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("such as PostgreSQL");
      assertThat(other.get(new JobId("t" + "0".repeat(32)))).isEmpty();
    }
  }
}
