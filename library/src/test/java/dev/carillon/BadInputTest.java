package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.carillon.api.JobId;
import dev.carillon.api.JobQuery;
import dev.carillon.api.Limits;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreLockedException;
import dev.carillon.api.error.StoreUnavailableException;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.logging.Logger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kind of bad input, and the clear error it gives. */
@Timeout(60)
class BadInputTest {
  @TempDir Path folder;

  static Stream<Arguments> badJobs() {
    return Stream.of(
        bad("type", c -> TaskType.of(null, String.class)),
        bad("type", c -> TaskType.of("  ", String.class)),
        bad("type", c -> TaskType.of("x".repeat(201), String.class)),
        bad("version", c -> NOTE.version(0)),
        bad("input", c -> NOTE.job(null)),
        bad("due", c -> NOTE.job("x").at(null)),
        bad("due", c -> NOTE.job("x").at(Instant.EPOCH.minusSeconds(1))),
        bad("due", c -> NOTE.job("x").at(Limits.LATEST_DUE.plusSeconds(1))),
        bad("delay", c -> NOTE.job("x").in(Duration.ofSeconds(-1))),
        bad("due", c -> c.schedule(NOTE.job("x").in(Duration.ofDays(365 * 8_000)))),
        bad("name", c -> NOTE.job("x").named("")),
        bad("name", c -> NOTE.job("x").named("x".repeat(1_025))),
        bad("key", c -> NOTE.job("x").key("a\nb")),
        bad("namespace", c -> NOTE.job("x").namespace(" ")),
        bad("queue", c -> NOTE.job("x").queue("\ud800")),
        bad("priority", c -> NOTE.job("x").priority(101)),
        bad("metadata bytes", c -> NOTE.job("x").meta("k", "v".repeat(16_384))),
        bad("metadata entries", c -> NOTE.job("x").metadata(entries(65))),
        bad("timeout", c -> NOTE.job("x").timeout(Duration.ZERO)),
        bad(
            "deadline",
            c ->
                c.schedule(
                    NOTE.job("x").in(Duration.ofHours(2)).deadline(Instant.now().plusSeconds(60)))),
        bad("payload bytes", c -> c.schedule(NOTE.job("x".repeat(1 << 20)))),
        bad("payload bytes", c -> c.scheduleAsync(NOTE.job("x".repeat(1 << 20))).join()),
        bad("reason", c -> c.cancel(new JobId("x"), "x".repeat(1_025))));
  }

  private static Map<String, String> entries(int count) {
    Map<String, String> entries = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      entries.put("key" + i, "");
    }
    return entries;
  }

  private static Arguments bad(String what, Consumer<Carillon> call) {
    return arguments(what, call);
  }

  @ParameterizedTest
  @MethodSource("badJobs")
  void badJobIsRefusedBeforeAnythingIsWritten(String what, Consumer<Carillon> call) {
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      assertThatThrownBy(() -> call.accept(carillon))
          .isInstanceOf(InvalidJobException.class)
          .hasMessageStartingWith(what + ":")
          .hasMessageContaining("(expected: ");
      assertThat(carillon.list(JobQuery.all()).items()).isEmpty();
    }
  }

  @Test
  void inputThatCannotBeEncodedIsRefused() {
    TaskType<Object> any = TaskType.of("any", Object.class);
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      assertThatThrownBy(() -> carillon.schedule(any.job(new HandlerTest.Unwritable())))
          .isInstanceOf(CodecException.class)
          .hasMessageContaining("not writable as JSON");
    }
  }

  @Test
  void idThatIsNoneOfOursIsNotFound() {
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      JobId id = new JobId("nothing");
      assertThatThrownBy(() -> carillon.result(id, TypeToken.of(String.class), Duration.ZERO))
          .isInstanceOf(JobNotFoundException.class);
      assertThatThrownBy(() -> carillon.watch(id, info -> {}))
          .isInstanceOf(JobNotFoundException.class);
    }
  }

  static Stream<Arguments> badOptions() {
    return Stream.of(
        option("slots", b -> b.slots(0)),
        option("nodeId", b -> b.nodeId(" ")),
        option("nodeId", b -> b.nodeId("a\nb")),
        option("closeGrace", b -> b.closeGrace(Duration.ofSeconds(-1))),
        option("scheduleTimeout", b -> b.advanced(a -> a.scheduleTimeout(Duration.ZERO))),
        option("loadHorizon", b -> b.advanced(a -> a.loadHorizon(Duration.ZERO))),
        option("jobs", b -> b.advanced(a -> a.maxWaiting(0, 1))),
        option("jobs", b -> b.advanced(a -> a.maxWaiting(1_000_001, 1))),
        option("bytes", b -> b.advanced(a -> a.maxWaiting(1, 0))),
        option("bytes", b -> b.advanced(a -> a.maxWaiting(1, (1L << 38) + 1))),
        option("limit", b -> b.limitQueue("q", 0)),
        option("namespace", b -> b.advanced(a -> a.limitNamespace("", 1))),
        option("store", b -> b.open()),
        option("store", b -> b.inMemory().url("jdbc:sqlite:x").open()),
        option("url", b -> b.url("jdbc:oracle:thin:@localhost").open()),
        option("url", b -> b.url("jobs.db").open()),
        option("url", b -> b.url("jdbc:sqlite::memory:").open()));
  }

  private static Arguments option(String what, Consumer<CarillonBuilder> call) {
    return arguments(what, call);
  }

  @ParameterizedTest
  @MethodSource("badOptions")
  void badOptionIsRefused(String what, Consumer<CarillonBuilder> call) {
    assertThatThrownBy(() -> call.accept(Carillon.builder()))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageStartingWith(what + ":")
        .hasMessageContaining("(expected: ");
  }

  // ---- stores

  @Test
  void secondOpenOfAFileIsRefused() {
    String url = "jdbc:sqlite:" + folder.resolve("jobs.db");
    try (Carillon carillon = Carillon.builder().url(url).daemon(true).open()) {
      assertThatThrownBy(() -> Carillon.open(url)).isInstanceOf(StoreLockedException.class);
      assertThat(carillon.node().health().ready()).isTrue();
    }
  }

  @Test
  void fileThatIsNoStoreIsRefusedAndLeftAlone() throws IOException {
    Path file = folder.resolve("letter.txt");
    Files.writeString(file, "Dear reader, this is no database. ".repeat(100));

    assertThatThrownBy(() -> Carillon.open("jdbc:sqlite:" + file))
        .isInstanceOf(StoreCorruptedException.class);

    assertThat(file).content().startsWith("Dear reader");
  }

  @Test
  void fileInNoFolderIsRefused() {
    assertThatThrownBy(() -> Carillon.open("jdbc:sqlite:" + folder.resolve("no/such/jobs.db")))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("existing folder");
  }

  @Test
  void dataSourceOfSqliteIsOpened() {
    String url = "jdbc:sqlite:" + folder.resolve("jobs.db");
    try (Carillon carillon =
        Carillon.builder()
            .dataSource(dataSource(() -> DriverManager.getConnection(url)))
            .daemon(true)
            .open()) {
      carillon.handle(LENGTH, (text, job) -> text.length());
      assertThat(carillon.schedule(LENGTH.job("abc")).result(Types.LONG)).isEqualTo(3);
    }
    assertThat(folder.resolve("jobs.db")).exists();
  }

  @Test
  void dataSourceOfAnythingElseIsRefused() {
    Connection other = connection("jdbc:other:x", "Other DB");

    assertThatThrownBy(() -> Carillon.open(dataSource(() -> other)))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("jdbc:other:x")
        .hasMessageContaining("jdbc:sqlite:FILE");
    assertThatThrownBy(
            () ->
                Carillon.open(
                    dataSource(
                        () -> {
                          throw new SQLException("down");
                        })))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("down");
  }

  /** What JDBC drivers give, as far as it is asked for. */
  private static Connection connection(String url, String product) {
    DatabaseMetaData metaData =
        proxy(DatabaseMetaData.class, Map.of("getURL", url, "getDatabaseProductName", product));
    return proxy(Connection.class, Map.of("getMetaData", metaData));
  }

  private static <T> T proxy(Class<T> type, Map<String, Object> answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> answers.get(method.getName())));
  }

  private interface Connecting {
    Connection connect() throws SQLException;
  }

  private static DataSource dataSource(Connecting connecting) {
    return new DataSource() {
      @Override
      public Connection getConnection() throws SQLException {
        return connecting.connect();
      }

      @Override
      public Connection getConnection(String user, String password) throws SQLException {
        return connecting.connect();
      }

      @Override
      public PrintWriter getLogWriter() {
        return null;
      }

      @Override
      public void setLogWriter(PrintWriter out) {}

      @Override
      public void setLoginTimeout(int seconds) {}

      @Override
      public int getLoginTimeout() {
        return 0;
      }

      @Override
      public Logger getParentLogger() {
        return Logger.getGlobal();
      }

      @Override
      public <T> T unwrap(Class<T> type) {
        throw new UnsupportedOperationException();
      }

      @Override
      public boolean isWrapperFor(Class<?> type) {
        return false;
      }
    };
  }
}
