package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.ShardId;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A node has connections of its own, however busy those of the application are. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class NodeConnectionsTest {

  private final PostgresServer server = PostgresServer.shared();

  private HikariConfig config(int size) {
    HikariConfig config = new HikariConfig();
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(1_000);
    return config;
  }

  private HikariDataSource hikari(int size) {
    HikariConfig config = config(size);
    config.setJdbcUrl(server.url());
    return new HikariDataSource(config);
  }

  private PGSimpleDataSource simple() {
    PGSimpleDataSource simple = new PGSimpleDataSource();
    simple.setUrl(server.url());
    return simple;
  }

  /** Uses a store of a data source all of whose connections are taken. */
  private static void useWhileTaken(DataSource source, int size, String schema) throws Exception {
    List<Connection> taken = new ArrayList<>();
    try {
      for (int i = 0; i < size; i++) {
        taken.add(source.getConnection());
      }
      try (PostgresStore store =
          PostgresStore.open(PostgresOptions.at(source).schema(schema).build())) {
        use(store);
      }
    } finally {
      for (Connection connection : taken) {
        connection.close();
      }
    }
  }

  private static void use(PostgresStore store) {
    ShardId shard = new ShardId(1, System.nanoTime(), 1);
    assertThat(store.journals().create(shard, "home", 5, new byte[0]).isOk()).isTrue();
    assertThat(store.clockMicros().isOk()).isTrue();
  }

  @Test
  void aHikariPoolWithoutAFreeConnectionHoldsNothingUp() throws Exception {
    try (HikariDataSource source = hikari(2)) {
      useWhileTaken(source, 2, "by_hikari");
      useWhileTaken(wrapper(source, true), 2, "by_hikari");
    }
  }

  @Test
  void aHikariPoolOverADataSourceIsConnectedAsThatOne() throws Exception {
    HikariConfig config = config(1);
    config.setDataSource(simple());
    try (HikariDataSource source = new HikariDataSource(config)) {
      useWhileTaken(source, 1, "by_inner");
    }
    HikariConfig named = config(1);
    named.setDataSourceClassName(PGSimpleDataSource.class.getName());
    named.addDataSourceProperty("url", server.url());
    try (HikariDataSource source = new HikariDataSource(named)) {
      useWhileTaken(source, 1, "by_inner");
    }
  }

  @Test
  void theDriversOwnDataSourceAndItsWrappersAreRead() throws Exception {
    Dial dial = DataSourceSettings.dial(wrapper(simple(), true), new java.util.Properties());
    assertThat(dial).isNotNull();
    dial.connect().close();
    assertThat(DataSourceSettings.url(wrapper(simple(), true))).startsWith("jdbc:postgresql:");
    assertThat(DataSourceSettings.dial(wrapper(simple(), false), new java.util.Properties()))
        .isNull();
  }

  @Test
  void changedCredentialsAreUsedFromThenOn() throws Exception {
    server.run("drop role if exists rotated; create role rotated login");
    try (HikariDataSource source = new HikariDataSource()) {
      source.setJdbcUrl(server.url().replaceAll("[?].*", ""));
      source.setUsername("postgres");
      Dial dial = DataSourceSettings.dial(source, new java.util.Properties());
      assertThat(dial).isNotNull();
      assertThat(userOf(dial)).isEqualTo("postgres");
      source.getHikariConfigMXBean().setUsername("rotated");
      assertThat(userOf(dial)).isEqualTo("rotated");
    }
  }

  private static String userOf(Dial dial) throws SQLException {
    try (Connection connection = dial.connect()) {
      return connection.getMetaData().getUserName();
    }
  }

  @Test
  void connectionsOfAnyOtherDataSourceAreTakenAtOpenAndKept() throws Exception {
    int all = NodeConnections.KEPT + 1;
    try (HikariDataSource source = hikari(all)) {
      try (PostgresStore store =
          PostgresStore.open(PostgresOptions.at(wrapper(source, false)).schema("kept").build())) {
        assertThat(source.getHikariPoolMXBean().getActiveConnections()).isEqualTo(all);
        use(store);
        assertThat(source.getHikariPoolMXBean().getActiveConnections()).isEqualTo(all);
      }
      assertThat(source.getHikariPoolMXBean().getActiveConnections()).isZero();
    }
  }

  @Test
  void aDataSourceThatIsTooSmallIsRefusedWithAdvice() {
    try (HikariDataSource source = hikari(3)) {
      PostgresOptions options = PostgresOptions.at(wrapper(source, false)).schema("few").build();
      assertThatThrownBy(() -> PostgresStore.open(options))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("gave 3 of 6 connections")
          .hasMessageContaining("enlarge the pool");
      assertThat(source.getHikariPoolMXBean().getActiveConnections()).isZero();
      PostgresOptions fewer =
          PostgresOptions.at(wrapper(source, false)).schema("few").poolSize(2).build();
      try (PostgresStore store = PostgresStore.open(fewer)) {
        use(store);
      }
    }
  }

  @Test
  void aServerThatIsAwayIsSaidAtOnceAndOneThatIsBackIsUsedAtOnce() {
    try (PostgresServer own = PostgresServer.start("away");
        PostgresStore store = PostgresStore.open(own.url())) {
      use(store);
      own.crash();
      long began = System.nanoTime();
      for (int i = 0; i < 5; i++) {
        assertThat(store.clockMicros().isOk()).isFalse();
      }
      assertThat(store.clockMicros().toString()).contains("refused");
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(2));
      own.restart();
      assertThat(store.clockMicros().isOk()).isTrue();
    }
  }

  @Test
  void aBorrowerWaitsForABoundedTime() throws Exception {
    NodePool.Settings one = new NodePool.Settings(1, 1, false, Duration.ofMillis(50));
    try (NodePool pool = new NodePool(server::connect, one)) {
      Connection held = pool.borrow();
      assertThatThrownBy(pool::borrow)
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("all 1 of this node's pool are in use");
      pool.giveBack(held, true);
      Connection again = pool.borrow();
      assertThat(again).isSameAs(held);
      again.close();
      pool.giveBack(again, true);
      Connection other = pool.borrow();
      assertThat(other).isNotSameAs(held);
      pool.giveBack(other, true);
      assertThat(pool.open()).isEqualTo(1);
    }
  }

  /** A data source before another one, which says so or does not. */
  private static DataSource wrapper(DataSource inner, boolean says) {
    return (DataSource)
        Proxy.newProxyInstance(
            NodeConnectionsTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              if (!says && method.getName().equals("isWrapperFor")) {
                return false;
              }
              if (says && method.getName().equals("isWrapperFor")) {
                Class<?> type = (Class<?>) arguments[0];
                return type.isInstance(inner) || inner.isWrapperFor(type);
              }
              if (says && method.getName().equals("unwrap")) {
                Class<?> type = (Class<?>) arguments[0];
                return type.isInstance(inner) ? inner : inner.unwrap(type);
              }
              try {
                return method.invoke(inner, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
