package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.carillon.api.JobHandle;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A node and its application share a data source; {@code ./carillon prove pool} is the long
 * version.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class SharedPoolTest {
  private static final TaskType<Integer> HOLD = TaskType.of("hold", Integer.class);
  private static final Duration WAIT = Duration.ofSeconds(40);
  private static final int POOL = 3;

  private final PostgresServer server = PostgresServer.shared();

  private HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(server.url());
    config.setMaximumPoolSize(POOL);
    config.setConnectionTimeout(60_000);
    return new HikariDataSource(config);
  }

  private static Carillon open(HikariDataSource pool, String schema) {
    return Carillon.builder()
        .dataSource(pool)
        .schema(schema)
        .advanced(
            a -> a.memberTimeout(Duration.ofMillis(1_200)).storeOption("statementTimeout", "1s"))
        .open();
  }

  @Test
  void handlersThatHoldEveryConnectionDoNotFenceTheNode() {
    AtomicInteger starts = new AtomicInteger();
    try (HikariDataSource pool = pool();
        Carillon carillon = open(pool, "shared_pool")) {
      carillon.handle(
          HOLD,
          (input, job) -> {
            starts.incrementAndGet();
            try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
              statement.execute("select pg_sleep(0.4)");
            }
          });
      List<JobHandle<Void>> jobs = new ArrayList<>();
      for (int i = 0; i < 8 * POOL; i++) {
        jobs.add(carillon.schedule(HOLD.job(i)));
      }
      jobs.forEach(job -> job.result(WAIT));
      assertThat(starts).hasValue(8 * POOL);
      assertThat(carillon.node().figures().count("members.fenced")).isZero();
    }
  }

  @Test
  void callersInsideTransactionsDoNotWaitForEachOther() throws Exception {
    try (HikariDataSource pool = pool();
        Carillon carillon = open(pool, "shared_callers");
        ExecutorService threads = Executors.newFixedThreadPool(4 * POOL)) {
      carillon.handle(HOLD, (input, job) -> {});
      List<Future<?>> calls = new ArrayList<>();
      for (int i = 0; i < 10 * POOL; i++) {
        int number = i;
        calls.add(threads.submit(() -> scheduleInside(pool, carillon, number)));
      }
      for (Future<?> call : calls) {
        call.get(20, TimeUnit.SECONDS);
      }
      assertThat(carillon.node().figures().count("members.fenced")).isZero();
    }
  }

  /** Schedules by the transaction, and beside it while it is open. */
  private static void scheduleInside(HikariDataSource pool, Carillon carillon, int number) {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      carillon.schedule(connection, HOLD.job(number));
      carillon.schedule(HOLD.job(-number));
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
