package dev.carillon.store.postgres;

import dev.carillon.store.Outcome;
import dev.carillon.store.sql.DamageException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * Borrows connections, runs steps in transactions on them and makes outcomes of errors.
 *
 * <p><b>What an error means.</b> Until a commit is sent nothing is done, whatever breaks: {@link
 * Outcome.Unavailable}. Once it is sent (a statement that commits by itself is sent with it) only
 * the server's own refusal says that nothing was done; anything else is {@link Outcome.Unknown}, a
 * cancelled statement too. No step is run again after that. A step that the server undid in favour
 * of another is run again, a few times.
 *
 * <p>Thread-safe; holds no lock while it waits for the server.
 */
final class Database {

  private static final int MAX_TRIES = 5;

  /** What the network may add to the server's own limit. */
  private static final Duration NETWORK_GRACE = Duration.ofSeconds(3);

  /** The slowest disk that is waited for, when much is written in one transaction. */
  private static final long SLOWEST_BYTES_PER_SECOND = 1 << 20;

  private static final Executor HERE = Runnable::run;

  private final NodeConnections connections;
  private final PostgresOptions options;
  private final Identity identity;
  private final PostgresStore.Access access;
  private volatile boolean closed;

  Database(
      NodeConnections connections,
      PostgresOptions options,
      Identity identity,
      PostgresStore.Access access) {
    this.connections = connections;
    this.options = options;
    this.identity = identity;
    this.access = access;
  }

  /** What happens in one transaction. May be run again where it was undone by the server. */
  interface Step<T> {
    /** Ok to commit, anything else to roll back. */
    Outcome<T> run(Session session) throws SQLException;
  }

  /** Runs a step that writes little in a transaction of its own. */
  <T> Outcome<T> write(Step<T> step) {
    return write(0, step);
  }

  /** Runs a step that writes about {@code bytes} in a transaction of its own. */
  <T> Outcome<T> write(long bytes, Step<T> step) {
    long extraMillis = 1_000 * bytes / SLOWEST_BYTES_PER_SECOND;
    return writeWithin(options.statementTimeout().plusMillis(extraMillis), step);
  }

  /** Runs a step of which a statement may take {@code timeout}. */
  <T> Outcome<T> writeWithin(Duration timeout, Step<T> step) {
    return repeated(() -> borrowed(timeout, session -> attempt(session, timeout, step)));
  }

  /** Reads outside any transaction: each statement sees what is committed when it starts. */
  <T> Outcome<T> read(Step<T> step) {
    return repeated(
        () ->
            borrowed(
                options.statementTimeout(),
                session -> {
                  session.connection().setAutoCommit(true);
                  return step.run(session);
                }));
  }

  /**
   * Runs one statement that commits by itself.
   *
   * @throws UndoneException where the server refused it in a way that another path can deal with
   */
  <T> Outcome<T> writeAtOnce(Step<T> statement) throws UndoneException {
    try {
      return borrowed(
          options.statementTimeout(),
          session -> {
            requireWritable();
            session.connection().setAutoCommit(true);
            try {
              return statement.run(session);
            } catch (SQLException e) {
              return atOnceFailed(e);
            }
          });
    } catch (SQLException e) {
      return new Outcome.Unavailable<>(text(e));
    }
  }

  private <T> Outcome<T> atOnceFailed(SQLException error) {
    Failure failure = Failure.of(error);
    return switch (failure) {
      case CONTENTION, NO_TABLE, UNDONE -> throw new UndoneException(error);
      case FULL -> new Outcome.Full<>(text(error));
      case REFUSED -> new Outcome.Unavailable<>(text(error));
      case CORRUPT, TIMEOUT, LOST -> new Outcome.Unknown<>(text(error));
    };
  }

  /** The server undid a statement. */
  static final class UndoneException extends RuntimeException {
    UndoneException(SQLException cause) {
      super(cause);
    }
  }

  private interface Attempt<T> {
    Outcome<T> run() throws SQLException;
  }

  private <T> Outcome<T> repeated(Attempt<T> attempt) {
    SQLException last = null;
    for (int i = 0; i < MAX_TRIES; i++) {
      try {
        return attempt.run();
      } catch (SQLException e) {
        last = e;
        Failure failure = Failure.of(e);
        if (failure == Failure.FULL) {
          return new Outcome.Full<>(text(e));
        }
        if (failure == Failure.CORRUPT) {
          return new Outcome.Damaged<>(text(e));
        }
        if (failure != Failure.CONTENTION && failure != Failure.NO_TABLE) {
          break;
        }
      } catch (DamageException e) {
        return new Outcome.Damaged<>(e.where());
      }
    }
    return new Outcome.Unavailable<>(last == null ? "no try was made" : text(last));
  }

  /** Throws what happened before the commit was sent: nothing was done then. */
  private <T> Outcome<T> attempt(Session session, Duration timeout, Step<T> step)
      throws SQLException {
    requireWritable();
    Connection connection = session.connection();
    connection.setAutoCommit(false);
    boolean ended = false;
    try {
      limit(session, timeout);
      Outcome<T> outcome = step.run(session);
      if (outcome.isOk()) {
        ended = true;
        return commit(connection, outcome);
      }
      return outcome;
    } finally {
      if (!ended) {
        rollback(connection);
      }
    }
  }

  private void requireWritable() throws SQLException {
    if (access == PostgresStore.Access.READS) {
      throw new SQLException("the store was opened for reading only", "25006");
    }
    identity.refuseChanged();
  }

  private <T> Outcome<T> commit(Connection connection, Outcome<T> outcome) throws SQLException {
    try {
      connection.commit();
      return outcome;
    } catch (SQLException e) {
      if (Failure.of(e).isDefinite()) {
        throw e;
      }
      return new Outcome.Unknown<>(text(e));
    }
  }

  /** Sets this transaction's limits where the session does not have them. */
  private void limit(Session session, Duration timeout) throws SQLException {
    boolean usual = timeout.equals(options.statementTimeout());
    if (connections.ownsSessions() && usual) {
      return;
    }
    session.run(
        (connections.ownsSessions() ? "" : "set transaction isolation level read committed;")
            + "set local statement_timeout = "
            + timeout.toMillis()
            + ";set local idle_in_transaction_session_timeout = "
            + options.statementTimeout().toMillis());
  }

  /** After an error this may fail as well: the server then rolls back when it finds us gone. */
  private static void rollback(Connection connection) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      abort(connection);
    }
  }

  /** Keeps a connection in an unknown state from being used again. */
  private static void abort(Connection connection) {
    try {
      connection.abort(HERE);
    } catch (SQLException e) {
      // It is broken already.
    }
  }

  private interface Use<T> {
    T with(Session session) throws SQLException;
  }

  private <T> T borrowed(Duration timeout, Use<T> use) throws SQLException {
    if (closed) {
      throw new SQLException("the store is closed");
    }
    Connection connection = connections.pool().borrow();
    boolean worked = false;
    try {
      Session session = new Session(connection, options.schema(), cancelAfterSeconds(timeout));
      boolean autoCommit = connection.getAutoCommit();
      int networkMillis = connection.getNetworkTimeout();
      try {
        connection.setNetworkTimeout(HERE, Math.toIntExact(timeout.plus(NETWORK_GRACE).toMillis()));
        identity.greet(session);
        T result = use.with(session);
        worked = !(result instanceof Outcome.Unavailable || result instanceof Outcome.Unknown);
        return result;
      } finally {
        restore(connection, autoCommit, networkMillis);
      }
    } finally {
      connections.pool().giveBack(connection, worked);
    }
  }

  private int cancelAfterSeconds(Duration timeout) {
    return connections.ownsSessions() ? 0 : (int) Math.max(1, timeout.toSeconds());
  }

  /** What was done is done, whatever becomes of the connection. */
  private static void restore(Connection connection, boolean autoCommit, int networkMillis) {
    try {
      if (connection.getAutoCommit() != autoCommit) {
        connection.setAutoCommit(autoCommit);
      }
      connection.setNetworkTimeout(HERE, networkMillis);
    } catch (SQLException e) {
      abort(connection);
    }
  }

  private String text(SQLException error) {
    return options.where() + ": " + Failure.text(error);
  }

  void close() {
    closed = true;
  }
}
