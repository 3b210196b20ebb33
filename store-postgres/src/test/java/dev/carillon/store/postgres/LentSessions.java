package dev.carillon.store.postgres;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A data source of a few sessions. As a pooler it changes the session behind a connection after
 * each transaction and forgets what was left in it; otherwise a session is lent until it is closed.
 */
final class LentSessions implements DataSource, AutoCloseable {

  private final BlockingQueue<Connection> free = new LinkedBlockingQueue<>();
  private final Set<Connection> used = new HashSet<>();
  private final boolean pooler;

  LentSessions(String url, int count, boolean pooler) throws SQLException {
    this.pooler = pooler;
    for (int i = 0; i < count; i++) {
      free.add(DriverManager.getConnection(url + "&prepareThreshold=0"));
    }
  }

  /** How many sessions were used. */
  int used() {
    return used.size();
  }

  /** What a setting of the next free session is. */
  String show(String setting) throws SQLException {
    Connection connection = take();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("show " + setting)) {
      rows.next();
      return rows.getString(1);
    } finally {
      free.add(connection);
    }
  }

  private Connection take() {
    try {
      Connection connection = free.take();
      used.add(connection);
      return connection;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Connection getConnection() {
    Lent lent = new Lent();
    return (Connection)
        Proxy.newProxyInstance(
            LentSessions.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> lent.call(method, arguments));
  }

  /** One connection, as its borrower has it. */
  private final class Lent {
    private boolean autoCommit = true;
    private Connection session;

    Object call(Method method, Object[] arguments) throws Throwable {
      return switch (method.getName()) {
        case "isWrapperFor" -> false;
        case "getNetworkTimeout" -> 0;
        case "setNetworkTimeout" -> null;
        case "getAutoCommit" -> autoCommit;
        case "setAutoCommit" -> {
          autoCommit = (boolean) arguments[0];
          giveBack(pooler);
          yield null;
        }
        case "close" -> {
          giveBack(true);
          yield null;
        }
        case "commit", "rollback" -> {
          Object result = invoke(method, arguments);
          giveBack(pooler);
          yield result;
        }
        default -> invoke(method, arguments);
      };
    }

    private Object invoke(Method method, Object[] arguments) throws Throwable {
      if (session == null) {
        session = take();
      }
      session.setAutoCommit(autoCommit);
      try {
        return method.invoke(session, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }

    private void giveBack(boolean now) throws SQLException {
      if (session == null || !now) {
        return;
      }
      session.setAutoCommit(true);
      if (pooler) {
        try (Statement statement = session.createStatement()) {
          statement.execute("discard all");
        }
      }
      free.add(session);
      session = null;
    }
  }

  @Override
  public Connection getConnection(String user, String password) {
    return getConnection();
  }

  @Override
  public void close() throws SQLException {
    for (Connection connection : free) {
      connection.close();
    }
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
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("not a wrapper");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
