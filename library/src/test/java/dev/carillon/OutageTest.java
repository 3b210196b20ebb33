package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.carillon.api.JobQuery;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StoreRefusedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.fixture.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Stores that are away, were never there, or are not to be had. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class OutageTest {
  private static final TaskType<Integer> NOTE = TaskType.of("note", Integer.class);
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration AT_ONCE = Duration.ofSeconds(3);

  @TempDir Path folder;

  private static Carillon open(String url) {
    return Carillon.builder().url(url).daemon(true).closeGrace(Duration.ofSeconds(2)).open();
  }

  @Test
  void aServerThatIsAwayIsSaidAtOnceAndWaitedForAtOpen() throws Exception {
    List<String> said = new CopyOnWriteArrayList<>();
    Handler log = listener(said);
    Logger logger = Logger.getLogger("dev.carillon.node");
    logger.addHandler(log);
    try (PostgresServer server = PostgresServer.start("outage")) {
      server.run("create role guest login password 'right'");
      requirePassword(server, "guest");
      assertRefused(server.url().replaceAll("user=postgres", "user=guest") + "&password=wrong");
      try (Carillon carillon = open(server.url())) {
        carillon.schedule(NOTE.job(1).named("before").in(Duration.ofDays(1)));
        server.crash();
        AtomicInteger asked = new AtomicInteger();
        Awaitility.await()
            .atMost(SOON)
            .until(() -> isRefusedAtOnce(carillon, "away-" + asked.incrementAndGet()));
        CompletableFuture<Carillon> opening =
            CompletableFuture.supplyAsync(
                () -> Carillon.builder().url(server.url()).waitForStore(SOON).daemon(true).open());
        assertThatThrownBy(() -> open(server.url()))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("refused");
        assertThat(opening).isNotDone();
        Awaitility.await()
            .atMost(SOON)
            .until(() -> carillon.node().figures().count("members.fenced") > 0);
        server.restart();
        opening.get(20, TimeUnit.SECONDS).close();
        Awaitility.await().atMost(SOON).until(() -> isScheduled(carillon, "after"));
        Awaitility.await()
            .atMost(SOON)
            .until(
                () ->
                    carillon
                        .node()
                        .health()
                        .detail()
                        .contains("this node fenced itself (1 in a row"));
        assertThat(said).anyMatch(line -> line.startsWith("fenced: the store has acknowledged"));
        assertThat(carillon.list(JobQuery.all().type(NOTE.name())).items())
            .extracting(job -> job.name())
            .containsExactlyInAnyOrder("before", "after");
      }
    } finally {
      logger.removeHandler(log);
    }
  }

  private static Handler listener(List<String> said) {
    return new Handler() {
      @Override
      public void publish(LogRecord line) {
        said.add(line.getMessage());
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }

  private static void requirePassword(PostgresServer server, String user) throws Exception {
    Path file = server.data().resolve("pg_hba.conf");
    String before = Files.readString(file);
    Files.writeString(
        file,
        "host all " + user + " all scram-sha-256\n" + before,
        StandardOpenOption.TRUNCATE_EXISTING);
    server.run("select pg_reload_conf()");
    Awaitility.await()
        .atMost(SOON)
        .until(
            () -> {
              try (Connection connection = server.connect();
                  Statement statement = connection.createStatement();
                  var rows =
                      statement.executeQuery(
                          "select count(*) from pg_hba_file_rules where '"
                              + user
                              + "' = any(user_name)")) {
                rows.next();
                return rows.getInt(1) == 1;
              }
            });
  }

  private static boolean isScheduled(Carillon carillon, String name) {
    try {
      carillon.schedule(NOTE.job(2).named(name).in(Duration.ofDays(1)));
      return true;
    } catch (StoreUnavailableException e) {
      return false; // it was not scheduled, and may be tried again
    }
  }

  /** Whether a job is refused, for certain, and soon; false where it is scheduled. */
  private static boolean isRefusedAtOnce(Carillon carillon, String name) {
    long began = System.nanoTime();
    try {
      carillon.schedule(NOTE.job(2).named(name).in(Duration.ofDays(1)));
      return false;
    } catch (StoreUnavailableException e) {
      assertThat(e).hasMessageMatching("(?s).*(away|not scheduled).*");
      return e.getMessage().contains("the store is away")
          && System.nanoTime() - began < Duration.ofMillis(300).toNanos();
    }
  }

  private static void assertRefused(String url) {
    long began = System.nanoTime();
    assertThatThrownBy(
            () -> Carillon.builder().url(url).waitForStore(Duration.ofSeconds(60)).open())
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("password authentication failed for user \"guest\"");
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(AT_ONCE);
  }

  @Test
  void aWrongDatabaseAndAWrongHostAreSaidAtOnceAsPermanent() {
    String url = PostgresServer.shared().url();
    long began = System.nanoTime();
    assertThatThrownBy(() -> open(url.replaceAll("/postgres[?]", "/nowhere?")))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("database \"nowhere\" does not exist");
    assertThatThrownBy(() -> open("jdbc:postgresql://no-such-host.invalid/postgres?user=postgres"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("no-such-host.invalid");
    try (HikariDataSource source = new HikariDataSource()) {
      source.setJdbcUrl(url.replaceAll("/postgres[?]", "/nowhere?"));
      assertThatThrownBy(() -> Carillon.open(source))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("database \"nowhere\" does not exist");
    }
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(AT_ONCE.multipliedBy(2));
  }

  @Test
  void aDeletedFileIsNamedByWhatScheduleThrows() throws Exception {
    Path file = folder.resolve("jobs.db");
    try (Carillon carillon = open("jdbc:sqlite:" + file)) {
      carillon.schedule(NOTE.job(1).in(Duration.ofDays(1)));
      Files.delete(file);
      for (int i = 0; i < 3; i++) {
        long began = System.nanoTime();
        assertThatThrownBy(() -> carillon.schedule(NOTE.job(2).in(Duration.ofDays(1))))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("jobs.db was deleted, moved or replaced");
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(AT_ONCE);
      }
    }
  }

  @Test
  void aJournalThatCannotBeWrittenShowsInHealthWhileOthersAre() throws Exception {
    PostgresServer server = PostgresServer.shared();
    try (Carillon carillon = open(server.url() + "&carillon.schema=one_hangs")) {
      carillon.schedule(NOTE.job(1).in(Duration.ofDays(100)));
      try (Connection connection = server.connect();
          Statement statement = connection.createStatement()) {
        connection.setAutoCommit(false);
        statement.execute("select * from one_hangs.heads for update");
        var hangs = carillon.scheduleAsync(NOTE.job(2).in(Duration.ofDays(100)));
        Awaitility.await()
            .atMost(Duration.ofSeconds(40))
            .until(
                () -> {
                  carillon.schedule(NOTE.job(3).in(Duration.ofMinutes(10)));
                  return carillon
                      .node()
                      .health()
                      .detail()
                      .contains("journals that cannot be written: 1");
                });
        connection.rollback();
        hangs.get(20, TimeUnit.SECONDS);
      }
      Awaitility.await().atMost(SOON).until(() -> carillon.node().health().detail().equals("ok"));
    }
  }

  @Test
  void aMemberTimeoutBelowTheStatementTimeoutIsRefused() {
    CarillonBuilder builder =
        Carillon.builder()
            .url(PostgresServer.shared().url())
            .advanced(a -> a.memberTimeout(Duration.ofSeconds(1)))
            .daemon(true);
    assertThatThrownBy(builder::open)
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessage(
            "memberTimeout: PT1S (expected: more than the statement timeout of the store, PT2S)");
    builder.advanced(a -> a.storeOption("statementTimeout", "0.5s")).open().close();
  }
}
