package dev.carillon;

import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Finds the store that a builder says. */
final class StoreOpener {
  private static final String SQLITE = "jdbc:sqlite:";
  private static final String MEMORY = "memory:";
  private static final String SUPPORTED =
      "jdbc:sqlite:FILE, a file on this machine; or memory: for throw-away work";

  private StoreOpener() {}

  static Store open(CarillonBuilder options) {
    long said =
        Stream.of(options.store, options.url, options.dataSource).filter(Objects::nonNull).count();
    if (said != 1) {
      throw new IllegalArgumentException(
          "store: " + said + " of them (expected: one of url, dataSource, store and inMemory)");
    }
    Store store = options.store;
    if (store != null) {
      return store;
    }
    DataSource dataSource = options.dataSource;
    return open(dataSource != null ? urlOf(dataSource) : options.url);
  }

  private static Store open(@Nullable String url) {
    String lower = url == null ? "" : url.toLowerCase(Locale.ROOT);
    if (url != null && lower.startsWith(SQLITE)) {
      return SqliteStore.open(SqliteStore.fileOf(url));
    }
    if (lower.equals(MEMORY)) {
      return new MemoryStore();
    }
    throw new IllegalArgumentException("url: " + url + " (expected: " + SUPPORTED + ")");
  }

  private static String urlOf(DataSource dataSource) {
    try (Connection connection = dataSource.getConnection()) {
      String url = connection.getMetaData().getURL();
      if (url == null || !url.toLowerCase(Locale.ROOT).startsWith(SQLITE)) {
        throw new IllegalArgumentException(
            "data source: of "
                + connection.getMetaData().getDatabaseProductName()
                + " (expected: one of SQLite, the only database supported today)");
      }
      return url;
    } catch (SQLException e) {
      throw new dev.carillon.api.StoreUnavailableException(
          "data source: gives no connection: " + e.getMessage(), e);
    }
  }
}
