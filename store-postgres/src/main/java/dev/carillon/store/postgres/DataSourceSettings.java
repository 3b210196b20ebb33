package dev.carillon.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.common.BaseDataSource;

/**
 * Reads from a data source how it connects, to connect in the same way beside its pool. Knows
 * HikariCP, the data sources of PostgreSQL's driver, and wrappers that unwrap to those, such as
 * Spring's proxies. The settings are read again for each connection, so that a changed password is
 * used from then on.
 */
final class DataSourceSettings {

  private DataSourceSettings() {}

  /**
   * A way to connect as the data source does; null where it does not tell.
   *
   * @param standard settings of the driver that hold where the data source has no other
   */
  static @Nullable Dial dial(DataSource source, Properties standard) {
    HikariConfig hikari = Hikari.of(source);
    if (hikari != null) {
      return Hikari.dial(hikari, standard);
    }
    BaseDataSource driver = unwrapped(source, BaseDataSource.class);
    return driver == null ? null : () -> connect(driver, standard);
  }

  /** The URL that a data source connects to; null where it does not tell. */
  static @Nullable String url(DataSource source) {
    HikariConfig hikari = Hikari.of(source);
    if (hikari != null) {
      DataSource inner = hikari.getDataSource();
      return inner != null ? url(inner) : hikari.getJdbcUrl();
    }
    BaseDataSource driver = unwrapped(source, BaseDataSource.class);
    return driver == null ? null : driver.getUrl();
  }

  private static Connection connect(BaseDataSource driver, Properties standard)
      throws SQLException {
    Properties properties = copy(standard);
    put(properties, "user", driver.getUser());
    put(properties, "password", driver.getPassword());
    return DriverManager.getConnection(driver.getUrl(), properties);
  }

  private static Properties copy(Properties properties) {
    Properties copy = new Properties();
    copy.putAll(properties);
    return copy;
  }

  private static void put(Properties properties, String name, @Nullable String value) {
    if (value != null) {
      properties.putIfAbsent(name, value);
    }
  }

  /** What a data source is, or stands before; null where it is something else or does not say. */
  private static <T> @Nullable T unwrapped(DataSource source, Class<T> type) {
    if (type.isInstance(source)) {
      return type.cast(source);
    }
    try {
      return source.isWrapperFor(type) ? source.unwrap(type) : null;
    } catch (SQLException | RuntimeException e) {
      return null;
    }
  }

  /** HikariCP's classes, which need not be on the class path. */
  private static final class Hikari {

    static @Nullable HikariConfig of(DataSource source) {
      try {
        return unwrapped(source, HikariDataSource.class);
      } catch (LinkageError e) {
        return null;
      }
    }

    static @Nullable Dial dial(HikariConfig config, Properties standard) {
      DataSource inner = config.getDataSource();
      if (inner != null) {
        Dial dial = DataSourceSettings.dial(inner, standard);
        return dial == null ? null : () -> begun(dial.connect(), config);
      }
      if (config.getJdbcUrl() != null) {
        return () -> begun(connect(config, standard), config);
      }
      BaseDataSource made = unwrapped((DataSource) config, BaseDataSource.class);
      return made == null
          ? null
          : () -> begun(DataSourceSettings.connect(made, withUser(config, standard)), config);
    }

    private static Connection connect(HikariConfig config, Properties standard)
        throws SQLException {
      Properties properties = withUser(config, standard);
      properties.putAll(config.getDataSourceProperties());
      String driver = config.getDriverClassName();
      if (driver != null) {
        load(driver);
      }
      return DriverManager.getConnection(config.getJdbcUrl(), properties);
    }

    private static void load(String driver) throws SQLException {
      try {
        Class.forName(driver, true, Thread.currentThread().getContextClassLoader());
      } catch (ClassNotFoundException e) {
        try {
          Class.forName(driver);
        } catch (ClassNotFoundException none) {
          throw new SQLException("driver: " + driver + " (expected: a class that is there)", none);
        }
      }
    }

    private static Properties withUser(HikariConfig config, Properties standard) {
      Properties properties = copy(standard);
      try {
        put(properties, "user", config.getCredentials().getUsername());
        put(properties, "password", config.getCredentials().getPassword());
      } catch (LinkageError older) { // versions before 6
        put(properties, "user", config.getUsername());
        put(properties, "password", config.getPassword());
      }
      return properties;
    }

    private static Connection begun(Connection connection, HikariConfig config)
        throws SQLException {
      String sql = config.getConnectionInitSql();
      if (sql != null) {
        try (Statement statement = connection.createStatement()) {
          statement.execute(sql);
        } catch (SQLException e) {
          connection.close();
          throw e;
        }
      }
      return connection;
    }
  }
}
