package dev.carillon.store.postgres;

import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where the connections of a node come from. They are the node's own in each case, so that handlers
 * and callers who hold all connections of the application keep no heartbeat from the server:
 *
 * <ol>
 *   <li>with a URL: a pool that connects to it;
 *   <li>with a data source whose settings can be read: a pool that connects as the data source
 *       does, beside it;
 *   <li>with any other data source: connections that the node takes from it at open and keeps.
 * </ol>
 *
 * @param pool the node's pool; the connection that listens is one of it
 * @param ownsSessions whether settings of a session may be changed
 */
record NodeConnections(NodePool pool, boolean ownsSessions) implements AutoCloseable {

  /** As many as a node's channels, readers and rotation can use at once. */
  static final int OWN = 20;

  /** Taken from a data source whose settings cannot be read, beside the one that listens. */
  static final int KEPT = 5;

  /** How many idle connections stay open. */
  private static final int LEAST = 4;

  /** How long a data source may take to hand out the connections that a node keeps. */
  private static final Duration TAKE_WAIT = Duration.ofSeconds(10);

  static NodeConnections of(PostgresOptions options) throws SQLException {
    DataSource source = options.dataSource();
    Dial dial = source == null ? toUrl(options) : DataSourceSettings.dial(source, driver(options));
    if (dial != null) {
      int size = size(options, OWN);
      NodePool pool = new NodePool(dial, settings(options, size, false));
      return new NodeConnections(pool, !options.pooler());
    }
    int size = size(options, KEPT);
    DataSource lender = Objects.requireNonNull(source);
    NodePool pool = new NodePool(lender::getConnection, settings(options, size, true));
    take(pool, size);
    return new NodeConnections(pool, false);
  }

  private static int size(PostgresOptions options, int standard) {
    return (options.poolSize() == 0 ? standard : options.poolSize()) + (options.push() ? 1 : 0);
  }

  private static NodePool.Settings settings(PostgresOptions options, int size, boolean kept) {
    long waitMillis = Math.max(1_000, 2 * options.statementTimeout().toMillis());
    return new NodePool.Settings(size, Math.min(size, LEAST), kept, Duration.ofMillis(waitMillis));
  }

  private static Dial toUrl(PostgresOptions options) {
    Properties properties = driver(options);
    if (options.user() != null) {
      properties.setProperty("user", options.user());
    }
    if (options.password() != null) {
      properties.setProperty("password", options.password());
    }
    String url = Objects.requireNonNull(options.url());
    return () -> DriverManager.getConnection(url, properties);
  }

  /** The driver's settings; those of the URL or the data source win. */
  private static Properties driver(PostgresOptions options) {
    Properties properties = new Properties();
    properties.setProperty("ApplicationName", "carillon");
    properties.setProperty("targetServerType", "primary");
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("connectTimeout", "5");
    properties.setProperty("loginTimeout", "5"); // a server that is stopped accepts and is silent
    // Statements stay prepared in a session, which behind a pooler is another one the next time.
    properties.setProperty("prepareThreshold", options.pooler() ? "0" : "1");
    return properties;
  }

  /** Takes all connections on a thread of its own: a data source may wait for ever for one. */
  private static void take(NodePool pool, int size) throws SQLException {
    AtomicReference<@Nullable Exception> problem = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    Thread.ofPlatform()
        .daemon()
        .name("carillon-postgres-take")
        .start(
            () -> {
              try {
                pool.fill(size);
              } catch (SQLException | RuntimeException e) {
                problem.set(e);
              } finally {
                done.countDown();
              }
            });
    boolean answered = false;
    try {
      answered = done.await(TAKE_WAIT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int taken = pool.open();
    if (!answered || problem.get() != null) {
      pool.close(); // also what comes late goes back
      if (taken == 0 && problem.get() instanceof SQLException none) {
        throw none; // the server's own words
      }
      throw new SQLException(
          "data source: gave %d of %d connections within %d s (expected: %d that the node keeps"
                  .formatted(taken, size, TAKE_WAIT.toSeconds(), size)
              + " beside those of the application: enlarge the pool, lower the option poolSize,"
              + " or name the database by url(…), where the node connects by itself)",
          "53300",
          problem.get());
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
