package dev.carillon.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.carillon.api.StoreUnavailableException;
import dev.carillon.api.StoreVersionException;
import dev.carillon.store.Doorbells;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.StoreInfo.Durability;
import dev.carillon.store.Transactions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The store in a PostgreSQL database, version 14 to 18: for production, and for several nodes. What
 * it has acknowledged is as durable as the server makes a commit: it survives the loss of power
 * where the server runs with {@code fsync} and {@code full_page_writes} on, which are its defaults;
 * {@code synchronous_commit} is turned on in connections of its own. Else {@link #info} says
 * PROCESS.
 *
 * <p>The tables make themselves, under a schema of their own. Several clusters may share a schema
 * and do not see each other. Any number of processes may have it open.
 *
 * <p><b>The tables.</b> {@code heads} has a row for each shard, {@code segments} one for each run
 * of consecutive entries in one table, {@code entries_c_p} the entries of cluster c in period p,
 * {@code periods} the tables there are, {@code records} the records, {@code inbox} and {@code
 * completions} what came with transactions of users' own. {@code makers} and {@code writers} hold
 * what must outlive shards and records: the highest shard made, the highest change resolved. Every
 * row has a checksum of its own.
 *
 * <p><b>What if …</b>
 *
 * <ul>
 *   <li><i>the process dies</i> before a commit was sent: the server rolls back. After it: the
 *       entry is there once, or not; whoever claims the shard waits for the head's lock and so for
 *       the end of that transaction.
 *   <li><i>the answer to a commit is lost</i>: {@link Outcome.Unknown}. {@code resolve} locks the
 *       head, which the commit holds in share mode until it is done, and then finds the entry or
 *       takes its number. What arrives later finds that number taken.
 *   <li><i>a paused owner wakes</i>: its append locks the head and compares the epoch it finds
 *       there; a claim has raised it. A transaction it has left open is ended by the server after
 *       the statement timeout, and its locks with it.
 *   <li><i>a clock jumps</i>: no call reads one. The server's decides when a table is followed by
 *       the next one, which may then come early or late.
 *   <li><i>the process dies while tables are rotated</i>: each step is a transaction, and the next
 *       one to look goes on.
 *   <li><i>the server is restored or a standby promoted</i>: the timeline is another one, so the
 *       {@link #incarnation} is; nothing is written before it is {@linkplain #adopt adopted}.
 * </ul>
 *
 * <p>May be used by any number of threads.
 */
public final class PostgresStore implements Store {

  private static final String NO_PRIVILEGE = "42501";

  /** What a store is opened for. */
  enum Access {
    READS,
    WRITES
  }

  private final PostgresOptions options;
  private final Cluster cluster;
  private final @Nullable HikariDataSource ownPool;
  private final StoreInfo info;
  private final Journals journals;
  private final Records records;
  private final @Nullable PostgresDoorbells doorbells;
  private final Transactions transactions;
  private final Rotation rotation; // begun unless this is for reading only
  private final AtomicBoolean closed = new AtomicBoolean();

  private PostgresStore(
      PostgresOptions options,
      Cluster cluster,
      StoreInfo info,
      @Nullable HikariDataSource ownPool) {
    this.options = options;
    this.cluster = cluster;
    this.ownPool = ownPool;
    this.info = info;
    this.journals = new PostgresJournals(cluster, info);
    this.records = new PostgresRecords(cluster, info);
    this.doorbells =
        options.push()
            ? new PostgresDoorbells(cluster, options.schema(), () -> line(options))
            : null;
    this.transactions =
        new PostgresTransactions(
            cluster, info, options, doorbells == null ? null : doorbells.channel());
    this.rotation = new Rotation(cluster, options);
  }

  /**
   * Opens the store in the database at {@code url} with the default options.
   *
   * @see #open(PostgresOptions)
   */
  public static PostgresStore open(String url) {
    return open(PostgresOptions.at(url).build());
  }

  /**
   * Opens a store, installing or migrating its tables where they are not there yet or older.
   *
   * @throws StoreVersionException if a newer version has migrated them
   * @throws StoreUnavailableException if the server cannot be reached, is a standby or too old, or
   *     denies what is needed
   */
  public static PostgresStore open(PostgresOptions options) {
    return open(options, Access.WRITES);
  }

  /**
   * Opens an existing store for reading only: makes and changes nothing, and every write answers
   * unavailable.
   *
   * @throws StoreVersionException if a newer version has migrated its tables
   * @throws StoreUnavailableException if it is not there, or of an older version that no node has
   *     migrated yet, or the server cannot be reached or is a standby
   */
  public static PostgresStore openReadOnly(PostgresOptions options) {
    return open(options, Access.READS);
  }

  private static PostgresStore open(PostgresOptions options, Access access) {
    HikariDataSource pool = options.dataSource() == null ? pool(options) : null;
    DataSource source = pool == null ? Objects.requireNonNull(options.dataSource()) : pool;
    boolean opened = false;
    try {
      Identity identity = new Identity(options);
      Cluster cluster = new Cluster(new Database(source, options, identity, access), identity);
      Durability durability = ready(source, options, cluster, access);
      PostgresStore store = new PostgresStore(options, cluster, info(options, durability), pool);
      if (access == Access.WRITES) {
        store.rotation.begin();
      }
      opened = true;
      return store;
    } catch (SQLException e) {
      throw notOpened(options, e);
    } finally {
      if (!opened && pool != null) {
        pool.close();
      }
    }
  }

  private static StoreInfo info(PostgresOptions options, Durability durability) {
    Set<Capability> capabilities =
        EnumSet.of(
            Capability.ATOMIC_ACROSS_JOURNALS,
            Capability.CONCURRENT_APPENDS,
            Capability.TRANSACTIONS);
    if (options.push()) {
      capabilities.add(Capability.PUSH);
    }
    return new StoreInfo(
        "postgres", durability, capabilities, 8 << 20, 64 << 20, 64 << 10, 2 << 10);
  }

  /** A connection to listen on. */
  private static Connection line(PostgresOptions options) throws SQLException {
    String url = options.url();
    if (url == null) {
      return Objects.requireNonNull(options.dataSource()).getConnection();
    }
    Properties properties = driver(options);
    if (options.user() != null) {
      properties.setProperty("user", options.user());
    }
    if (options.password() != null) {
      properties.setProperty("password", options.password());
    }
    return DriverManager.getConnection(url, properties);
  }

  private static HikariDataSource pool(PostgresOptions options) {
    HikariConfig config = new HikariConfig();
    config.setPoolName("carillon");
    config.setJdbcUrl(options.url());
    config.setUsername(options.user());
    config.setPassword(options.password());
    config.setMaximumPoolSize(options.poolSize());
    config.setMinimumIdle(1);
    config.setInitializationFailTimeout(-1);
    long waitMillis = Math.max(1_000, 2 * options.statementTimeout().toMillis());
    config.setConnectionTimeout(waitMillis);
    config.setValidationTimeout(Math.max(250, waitMillis / 2));
    config.setDataSourceProperties(driver(options));
    return new HikariDataSource(config);
  }

  /** The driver's settings; those in the URL win. */
  private static Properties driver(PostgresOptions options) {
    Properties properties = new Properties();
    properties.setProperty("ApplicationName", "carillon");
    properties.setProperty("targetServerType", "primary");
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("connectTimeout", "5");
    // Statements stay prepared in a session, which behind a pooler is another one the next time.
    properties.setProperty("prepareThreshold", options.pooler() ? "0" : "1");
    return properties;
  }

  private static Durability ready(
      DataSource source, PostgresOptions options, Cluster cluster, Access access)
      throws SQLException {
    try (Connection connection = source.getConnection()) {
      boolean autoCommit = connection.getAutoCommit();
      connection.setAutoCommit(true);
      Session session = new Session(connection, options.schema(), 0);
      Schema schema = new Schema(options);
      if (access == Access.WRITES) {
        schema.ready(session);
      } else {
        schema.requireThere(session);
      }
      cluster.identity().begin(session, schema.cluster(session), cluster::forgetAll);
      Durability durability = durability(session, options);
      connection.setAutoCommit(autoCommit);
      return durability;
    }
  }

  /** What a commit survives on this server, with its settings as they are now. */
  private static Durability durability(Session session, PostgresOptions options)
      throws SQLException {
    boolean disk =
        session.number(
                "select (current_setting('fsync')::bool"
                    + " and current_setting('full_page_writes')::bool)::int")
            == 1;
    boolean waits =
        options.ownsSessions()
            || session.number("select (current_setting('synchronous_commit') <> 'off')::int") == 1;
    return disk && waits ? Durability.HOST : Durability.PROCESS;
  }

  private static RuntimeException notOpened(PostgresOptions options, SQLException error) {
    String expected =
        NO_PRIVILEGE.equals(error.getSQLState())
            ? "a user that may create a schema, or that owns schema " + options.schema()
            : "a PostgreSQL server that can be reached";
    return new StoreUnavailableException(
        "store: " + options.where() + ": " + Failure.text(error) + " (expected: " + expected + ")",
        error);
  }

  /**
   * Gives a store a new {@linkplain #incarnation() incarnation}: to be called after a backup was
   * restored in a way that the server itself does not notice. Nodes that have it open notice with
   * their next write.
   *
   * @return the new incarnation
   */
  public static String renewIncarnation(PostgresOptions options) {
    try (PostgresStore store = open(options)) {
      return store.renewIncarnation();
    }
  }

  private String renewIncarnation() {
    cluster
        .database()
        .write(
            session -> {
              try (PreparedStatement update =
                  session.statement("update $.clusters set incarnation = ? where id = ?")) {
                update.setString(1, Identity.newIncarnation());
                update.setInt(2, cluster.id());
                Session.mustChangeOne(update);
                cluster.identity().look(session);
              }
              return Outcome.ok(true);
            })
        .orThrow();
    return incarnation();
  }

  @Override
  public StoreInfo info() {
    return info;
  }

  /** The cluster's own incarnation with the server's system identifier and timeline. */
  @Override
  public String incarnation() {
    return cluster.identity().incarnation();
  }

  @Override
  public void adopt(String incarnation) {
    cluster.identity().adopt(incarnation);
  }

  @Override
  public Outcome<Long> clockMicros() {
    return cluster
        .database()
        .read(
            session ->
                Outcome.ok(
                    session.number(
                        "select (extract(epoch from clock_timestamp()) * 1000000)::bigint")));
  }

  @Override
  public Journals journals() {
    return journals;
  }

  @Override
  public Records records() {
    return records;
  }

  @Override
  public Doorbells doorbells() {
    return doorbells == null ? Doorbells.NONE : doorbells;
  }

  @Override
  public Transactions transactions() {
    return transactions;
  }

  PostgresOptions options() {
    return options;
  }

  Cluster cluster() {
    return cluster;
  }

  /** How its tables are rotated. */
  Rotation rotation() {
    return rotation;
  }

  @Override
  public String toString() {
    return "PostgresStore[" + options.where() + "]";
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      rotation.close();
      if (doorbells != null) {
        doorbells.close();
      }
      cluster.database().close();
      if (ownPool != null) {
        ownPool.close();
      }
    }
  }
}
