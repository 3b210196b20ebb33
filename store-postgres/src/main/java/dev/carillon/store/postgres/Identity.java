package dev.carillon.store.postgres;

import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Which copy of the data this is: the cluster's own incarnation, the server's system identifier and
 * its timeline, which a promoted standby and a recovery to a point in time begin anew. Looked at on
 * each new connection before its first use, since a server does not change it while it runs as a
 * primary; the cluster's own part, which a command changes, is compared in each append as well.
 *
 * <p>After a change nothing is written until the new copy is {@linkplain #adopt adopted}: what
 * callers hold is of another one until then.
 */
final class Identity {

  private static final int INCARNATION_BYTES = 16;

  private final PostgresOptions options;
  private final boolean ownsSessions;

  /** Connections that were looked at. Held weakly: the pool decides how long they live. */
  private final Set<Object> known =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private volatile int cluster;
  private volatile boolean mayReadControl;
  private volatile Seen actual = new Seen("", "");
  private volatile String adopted = "";
  private volatile Runnable whenChanged = () -> {};

  /** What a look found: the cluster's own incarnation, and all of it. */
  private record Seen(String own, String whole) {}

  Identity(PostgresOptions options, boolean ownsSessions) {
    this.options = options;
    this.ownsSessions = ownsSessions;
  }

  static String newIncarnation() {
    byte[] random = new byte[INCARNATION_BYTES];
    new SecureRandom().nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  /** From here on connections are looked at. */
  void begin(Session session, int clusterId, Runnable forgetAll) throws SQLException {
    cluster = clusterId;
    whenChanged = forgetAll;
    mayReadControl =
        session.number("select has_function_privilege('pg_control_system()', 'execute')::int") == 1;
    look(session);
    adopted = actual.whole;
  }

  int cluster() {
    return cluster;
  }

  /** Names this copy. */
  String incarnation() {
    return actual.whole;
  }

  /** Callers hold nothing of another copy any more. */
  void adopt(String incarnation) {
    adopted = incarnation;
  }

  /** The part of it that a command changes. */
  String own() {
    return actual.own;
  }

  /** Readies a connection the first time it is seen. */
  void greet(Session session) throws SQLException {
    Object physical = physical(session.connection());
    if (physical != null && known.contains(physical)) {
      return;
    }
    session.connection().setAutoCommit(true);
    if (ownsSessions) {
      long millis = options.statementTimeout().toMillis();
      session.run(
          "set statement_timeout = "
              + millis
              + ";set idle_in_transaction_session_timeout = "
              + millis
              + ";set default_transaction_isolation = 'read committed'"
              // What is acknowledged is durable, whatever is the habit of this server.
              + ";select set_config('synchronous_commit', 'on', false)"
              + " where current_setting('synchronous_commit') = 'off'");
    }
    if (cluster != 0) {
      look(session);
    }
    if (physical != null) {
      known.add(physical);
    }
  }

  private static @Nullable Object physical(Connection connection) throws SQLException {
    return connection.isWrapperFor(PGConnection.class)
        ? connection.unwrap(PGConnection.class)
        : null;
  }

  /** Looks at which copy a connection leads to. */
  void look(Session session) throws SQLException {
    PreparedStatement select =
        session.statement(
            "select c.incarnation, pg_is_in_recovery(), case when pg_is_in_recovery() then '' else"
                + " substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) end, "
                + (mayReadControl ? "(select system_identifier from pg_control_system())" : "0")
                + " from $.clusters c where c.id = ?");
    select.setInt(1, cluster);
    try (select;
        ResultSet rows = select.executeQuery()) {
      if (!rows.next()) {
        throw new SQLException("the cluster is gone (expected: one that is kept)", "55000");
      }
      if (rows.getBoolean(2)) {
        throw new SQLException("the server is a standby (expected: the primary)", "25006");
      }
      String own = rows.getString(1);
      saw(new Seen(own, own + "-" + rows.getLong(4) + "-" + rows.getString(3)));
    }
  }

  /** Looks again, and refuses where it has changed. */
  void verify(Session session) throws SQLException {
    look(session);
    refuseChanged();
  }

  /** Nothing may be written while callers hold what they know of another copy. */
  void refuseChanged() throws SQLException {
    if (!adopted.equals(actual.whole)) {
      throw new SQLException(
          "the incarnation of the store changed to " + actual.whole + ": claim anew", "55000");
    }
  }

  private synchronized void saw(Seen seen) {
    if (!seen.equals(actual)) {
      actual = seen;
      whenChanged.run();
    }
  }
}
