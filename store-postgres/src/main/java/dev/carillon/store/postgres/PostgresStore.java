package dev.carillon.store.postgres;

import dev.carillon.api.error.StoreRefusedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.StoreVersionException;
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
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
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
  private static final String NO_DATABASE = "3D000";

  /** The class of wrong users and passwords. */
  private static final String NO_ENTRY = "28";

  /** What a store is opened for. */
  enum Access {
    READS,
    WRITES
  }

  private final PostgresOptions options;
  private final Cluster cluster;
  private final NodeConnections connections;
  private final StoreInfo info;
  private final Journals journals;
  private final Records records;
  private final @Nullable PostgresDoorbells doorbells;
  private final Transactions transactions;
  private final Rotation rotation; // begun unless this is for reading only
  private final AtomicBoolean closed = new AtomicBoolean();

  private PostgresStore(
      PostgresOptions options, Cluster cluster, StoreInfo info, NodeConnections connections) {
    this.options = options;
    this.cluster = cluster;
    this.connections = connections;
    this.info = info;
    this.journals = new PostgresJournals(cluster, info);
    this.records = new PostgresRecords(cluster, info);
    this.doorbells =
        options.push()
            ? new PostgresDoorbells(cluster, options.schema(), connections.pool())
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
   * Opens a store, installing its tables where they are not there yet.
   *
   * @throws StoreVersionException if a newer version has made them
   * @throws StoreRefusedException if the server denies what is needed, or the user, the password,
   *     the database or the host is wrong
   * @throws StoreUnavailableException if the server cannot be reached, or is a standby or too old
   */
  public static PostgresStore open(PostgresOptions options) {
    return open(options, Access.WRITES);
  }

  /**
   * Opens an existing store for reading only: makes and changes nothing, and every write answers
   * unavailable.
   *
   * @throws StoreVersionException if a newer version has made its tables
   * @throws StoreUnavailableException if it is not there, or the server cannot be reached or is a
   *     standby
   */
  public static PostgresStore openReadOnly(PostgresOptions options) {
    return open(options, Access.READS);
  }

  private static PostgresStore open(PostgresOptions options, Access access) {
    NodeConnections connections = null;
    boolean opened = false;
    try {
      connections = NodeConnections.of(options);
      Identity identity = new Identity(options, connections.ownsSessions());
      Cluster cluster = new Cluster(new Database(connections, options, identity, access), identity);
      Durability durability = ready(connections, options, cluster, access);
      PostgresStore store =
          new PostgresStore(options, cluster, info(options, durability), connections);
      if (access == Access.WRITES) {
        store.rotation.begin();
      }
      opened = true;
      return store;
    } catch (SQLException e) {
      throw notOpened(options, e);
    } finally {
      if (!opened && connections != null) {
        connections.close();
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

  private static Durability ready(
      NodeConnections connections, PostgresOptions options, Cluster cluster, Access access)
      throws SQLException {
    Connection connection = connections.pool().borrow();
    boolean worked = false;
    try {
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
      Durability durability = durability(session, connections.ownsSessions());
      connection.setAutoCommit(autoCommit);
      worked = true;
      return durability;
    } finally {
      connections.pool().giveBack(connection, worked);
    }
  }

  /** What a commit survives on this server, with its settings as they are now. */
  private static Durability durability(Session session, boolean ownsSessions) throws SQLException {
    boolean disk =
        session.number(
                "select (current_setting('fsync')::bool"
                    + " and current_setting('full_page_writes')::bool)::int")
            == 1;
    boolean waits =
        ownsSessions
            || session.number("select (current_setting('synchronous_commit') <> 'off')::int") == 1;
    return disk && waits ? Durability.HOST : Durability.PROCESS;
  }

  private static RuntimeException notOpened(PostgresOptions options, SQLException error) {
    String expected = expectation(options, error);
    String said = "store: " + options.where() + ": " + Failure.text(error) + " (expected: ";
    return expected == null
        ? new StoreUnavailableException(said + "a PostgreSQL server that can be reached)", error)
        : new StoreRefusedException(said + expected + ")", error);
  }

  /** What would have to be changed before it opens; null where it may open as it is, later. */
  private static @Nullable String expectation(PostgresOptions options, SQLException error) {
    String state = error.getSQLState() == null ? "" : error.getSQLState();
    if (state.equals(NO_PRIVILEGE)) {
      return "a user that may create a schema, or that owns schema " + options.schema();
    }
    if (state.equals(NO_DATABASE)) {
      return "a database that exists";
    }
    if (state.startsWith(NO_ENTRY)) {
      return "a user and a password that the server accepts";
    }
    return Failure.isOfUnknownHost(error) ? "the name of a host" : null;
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
  public Duration longestStatement() {
    return options.statementTimeout();
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
      connections.close();
    }
  }
}
