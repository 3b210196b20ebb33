package dev.carillon.store.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteOpenMode;

/**
 * One connection and its prepared statements. Used by one thread at a time; its owner holds a lock.
 *
 * <p>Transactions are begun and ended by statements of our own, not by JDBC's auto-commit, which
 * would begin the next one at once and so pin a snapshot.
 */
final class Session implements AutoCloseable {

  private final Connection connection;
  private final Map<String, PreparedStatement> statements = new HashMap<>();

  private Session(Connection connection) {
    this.connection = connection;
  }

  /**
   * Looks at a file that was opened and not yet read: reading an empty one makes SQLite delete the
   * log beside it, so that a look before opening comes too early.
   */
  interface FirstLook {
    void check() throws SQLException;
  }

  /** A connection that may write; makes the file where there is none. */
  static Session create(Path file, SqliteOptions options) throws SQLException {
    return openWriter(file, options, new SQLiteConfig(), () -> {});
  }

  /** A connection that may write to an existing file. */
  static Session open(Path file, SqliteOptions options) throws SQLException {
    return open(file, options, () -> {});
  }

  /** A connection that may write to an existing file, if it passes the look. */
  static Session open(Path file, SqliteOptions options, FirstLook look) throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.resetOpenMode(SQLiteOpenMode.CREATE);
    return openWriter(file, options, config, look);
  }

  private static Session openWriter(
      Path file, SqliteOptions options, SQLiteConfig config, FirstLook look) throws SQLException {
    return connect(file, options, config, "")
        .prepared(
            look,
            "pragma wal_autocheckpoint = 0",
            "pragma synchronous = full",
            "pragma temp_store = memory",
            "pragma cell_size_check = on",
            "pragma cache_size = -" + options.cacheBytes() / 1024);
  }

  /** A connection that cannot change anything. */
  static Session openReader(Path file, SqliteOptions options) throws SQLException {
    return openReader(file, options, () -> {});
  }

  /** A connection that cannot change anything, if the file passes the look. */
  static Session openReader(Path file, SqliteOptions options, FirstLook look) throws SQLException {
    return openReader(file, options, "", look);
  }

  /**
   * A connection to a file that nobody can change, as on a disk that is mounted for reading. SQLite
   * then needs no index of the write-ahead log, which it could not make there.
   */
  static Session openImmutable(Path file, SqliteOptions options) throws SQLException {
    return openReader(file, options, "?immutable=1", () -> {});
  }

  private static Session openReader(
      Path file, SqliteOptions options, String parameters, FirstLook look) throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.resetOpenMode(SQLiteOpenMode.READWRITE);
    config.resetOpenMode(SQLiteOpenMode.CREATE);
    config.setOpenMode(SQLiteOpenMode.READONLY);
    return connect(file, options, config, parameters)
        .prepared(
            look,
            "pragma query_only = on",
            "pragma temp_store = memory",
            "pragma cell_size_check = on",
            "pragma cache_size = -" + options.cacheBytes() / 2048);
  }

  private static Session connect(
      Path file, SqliteOptions options, SQLiteConfig config, String parameters)
      throws SQLException {
    config.setGetGeneratedKeys(false);
    config.setBusyTimeout(Math.toIntExact(options.busyTimeout().toMillis()));
    // As a URI, so that a name with ? or % in it stays a name.
    String uri = "file:" + file.toAbsolutePath().toUri().getRawPath();
    return new Session(config.createConnection("jdbc:sqlite:" + uri + parameters));
  }

  private Session prepared(FirstLook look, String... pragmas) throws SQLException {
    try {
      look.check();
      for (String pragma : pragmas) {
        run(pragma);
      }
      return this;
    } catch (SQLException e) {
      close();
      throw e;
    }
  }

  /** Runs a statement that is needed once. */
  void run(String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Runs a statement to its end that answers rows without columns, one for each thing done. */
  void runToEnd(String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  /** The statement of {@code sql}, prepared at its first use. */
  PreparedStatement statement(String sql) throws SQLException {
    PreparedStatement known = statements.get(sql);
    if (known != null) {
      return known;
    }
    PreparedStatement prepared = connection.prepareStatement(sql);
    statements.put(sql, prepared);
    return prepared;
  }

  void begin() throws SQLException {
    statement("begin immediate").execute();
  }

  void beginReading() throws SQLException {
    statement("begin").execute();
  }

  void commit() throws SQLException {
    statement("commit").execute();
  }

  /** Ends whatever transaction there is after an error. */
  void abandon() throws SQLException {
    forgetStatements();
    try {
      run("rollback");
    } catch (SQLException e) {
      // SQLite ends a transaction by itself after some errors, and then there is none to end.
      if (!String.valueOf(e.getMessage()).contains("no transaction is active")) {
        throw e;
      }
    }
  }

  void rollback() throws SQLException {
    statement("rollback").execute();
  }

  /** The number a query without parameters answers, 0 for none. */
  long number(String sql) throws SQLException {
    try (var statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }

  /** The text a query without parameters answers, empty for none. */
  String text(String sql) throws SQLException {
    try (var statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      String text = rows.next() ? rows.getString(1) : null;
      return text == null ? "" : text;
    }
  }

  /** Has all statements prepared anew: the driver closes one that fails. */
  void forgetStatements() {
    for (PreparedStatement statement : statements.values()) {
      closeQuietly(statement);
    }
    statements.clear();
  }

  @Override
  public void close() {
    forgetStatements();
    closeQuietly(connection);
  }

  /** Closing cannot fail in a way that anybody could do something about. */
  private static void closeQuietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception e) {
      // Nothing depends on it: what was committed is on the disk.
    }
  }
}
