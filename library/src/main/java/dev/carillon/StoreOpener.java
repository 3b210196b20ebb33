package dev.carillon;

import dev.carillon.api.InvalidArgumentException;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Finds the store that a builder says. */
final class StoreOpener {

  private StoreOpener() {}

  static Store open(CarillonBuilder options) {
    long said =
        Stream.of(options.store, options.url, options.dataSource).filter(Objects::nonNull).count();
    if (said != 1) {
      throw new InvalidArgumentException(
          "store: " + said + " of them (expected: one of url, dataSource, store and inMemory)");
    }
    Store store = options.store;
    if (store != null) {
      if (!options.advanced.storeOptions.isEmpty()) {
        throw new InvalidArgumentException(
            "store options: %s (expected: none for a store that is open already)"
                .formatted(options.advanced.storeOptions.keySet()));
      }
      return store;
    }
    DataSource dataSource = options.dataSource;
    String url = dataSource != null ? urlOf(dataSource) : Objects.requireNonNull(options.url);
    return Stores.open(new StoreAddress(url, dataSource, options.advanced.storeOptions));
  }

  /** Says of which database it is, and where SQLite's file lies. */
  private static String urlOf(DataSource dataSource) {
    try (Connection connection = dataSource.getConnection()) {
      String url = connection.getMetaData().getURL();
      if (url == null) {
        throw new InvalidArgumentException(
            "data source: of "
                + connection.getMetaData().getDatabaseProductName()
                + " without a URL (expected: one of SQLite or PostgreSQL)");
      }
      return url;
    } catch (SQLException e) {
      throw new dev.carillon.api.StoreUnavailableException(
          "data source: gives no connection: " + e.getMessage(), e);
    }
  }
}
