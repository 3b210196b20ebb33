package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Job;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers that are lost, come late or are refusals, of what rides along appends. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class TransactionalFaultTest {
  private static final TaskType<Integer> BOOK = TaskType.of("book-once", Integer.class);
  private static final int JOBS = 300;
  private static final int A_TRANSACTION = 10;

  /** Of so many calls one meets a fault. */
  private static final int ONE_OF = 3;

  private final PostgresServer server = PostgresServer.shared();
  private final Map<Integer, Integer> calls = new ConcurrentHashMap<>();

  /** Seeded, and asked by several threads. */
  private static final class Dice implements FaultyStore.Faults {
    private static final Fault[] FAULTS = {
      Fault.FAIL_BEFORE, Fault.APPLY_THEN_TIMEOUT, Fault.TIMEOUT_THEN_APPLY
    };

    private final SplittableRandom random = new SplittableRandom(11);
    private volatile boolean quiet;

    @Override
    public synchronized Fault next(Operation operation) {
      boolean ours = operation == Operation.APPEND || operation == Operation.RECORDS_APPLY;
      return quiet || !ours || random.nextInt(ONE_OF) > 0
          ? Fault.NONE
          : FAULTS[random.nextInt(FAULTS.length)];
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

  private void book(Integer number, dev.carillon.api.JobContext job) throws SQLException {
    calls.merge(number, 1, Integer::sum);
    if (number % 2 == 0) {
      return; // ends by returning
    }
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("insert into booked_once values (" + number + ")");
      job.completeIn(connection);
      connection.commit();
    }
  }

  @Test
  void everyJobIsThereOnceAndDoneOnce() throws SQLException {
    server.run("create table if not exists booked_once(number int); truncate booked_once");
    Dice dice = new Dice();
    FaultyStore store =
        new FaultyStore(
            Stores.open(new StoreAddress(server.url(), null, Map.of("schema", "faulty"))), dice);
    JobQuery all = JobQuery.all().limit(1_000);
    try (Carillon carillon = Carillon.builder().store(store).daemon(true).open()) {
      carillon.handle(BOOK, this::book);
      for (int from = 0; from < JOBS; from += A_TRANSACTION) {
        List<Job<Void>> jobs = new ArrayList<>();
        for (int i = from; i < from + A_TRANSACTION; i++) {
          jobs.add(BOOK.job(i));
        }
        try (Connection connection = server.connect()) {
          connection.setAutoCommit(false);
          carillon.scheduleAll(connection, jobs);
          connection.commit();
        }
        store.deliverNextLate();
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(90))
          .pollInterval(Duration.ofMillis(20))
          .until(
              () -> {
                store.deliverNextLate();
                return calls.size() == JOBS && ended(carillon, all) >= JOBS;
              });
      dice.quiet = true;
      store.deliverLate();
      assertThat(carillon.list(all).items())
          .hasSize(JOBS)
          .allMatch(job -> job.state() == JobState.SUCCEEDED && job.attempt() == 1);
    }
    assertThat(calls.values()).containsOnly(1);
    assertThat(count("select count(*) from booked_once")).isEqualTo(JOBS / 2);
    assertThat(count("select count(distinct number) from booked_once")).isEqualTo(JOBS / 2);
    assertThat(count("select count(*) from faulty.inbox")).isZero();
    assertThat(count("select count(*) from faulty.completions")).isZero();
    for (Fault fault : Dice.FAULTS) {
      assertThat(store.count(Operation.APPEND, fault)).as(fault.toString()).isPositive();
    }
  }

  private static long ended(Carillon carillon, JobQuery all) {
    return carillon.list(all).items().stream().map(JobInfo::state).filter(JobState::ended).count();
  }
}
