package dev.carillon.store.jdbc;

import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.StoreProvider;
import java.util.Locale;

/** Opens stores in SQLite files. Of a data source only the URL is used. */
public final class SqliteProvider implements StoreProvider {

  /** For the service loader. */
  public SqliteProvider() {}

  @Override
  public String form() {
    return "jdbc:sqlite:FILE, a file on this machine";
  }

  @Override
  public boolean knows(String url) {
    return url.toLowerCase(Locale.ROOT).startsWith(SqliteStore.URL_PREFIX);
  }

  @Override
  public Store open(StoreAddress address) {
    address.requireNoOptions();
    return SqliteStore.open(SqliteStore.fileOf(address.url()));
  }

  @Override
  public Store openReadOnly(StoreAddress address) {
    address.requireNoOptions();
    return SqliteStore.openReadOnly(SqliteStore.fileOf(address.url()));
  }
}
