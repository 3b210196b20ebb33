package dev.carillon.store.postgres;

import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.StoreProvider;
import java.util.Locale;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Opens stores in PostgreSQL databases. Settings of {@link PostgresOptions} are options of the
 * address by the same names, or parameters of its URL with {@code carillon.} before the name:
 * {@code jdbc:postgresql://host/database?carillon.schema=jobs&carillon.cluster=blue}. The other
 * parameters of the URL are the driver's.
 */
public final class PostgresProvider implements StoreProvider {

  /** For the service loader. */
  public PostgresProvider() {}

  @Override
  public String form() {
    return "jdbc:postgresql://HOST/DATABASE";
  }

  @Override
  public boolean knows(String url) {
    return url.toLowerCase(Locale.ROOT).startsWith(PostgresOptions.URL_PREFIX);
  }

  @Override
  public @Nullable String urlOf(DataSource dataSource) {
    String url = DataSourceSettings.url(dataSource);
    return url != null && knows(url) ? url : null;
  }

  @Override
  public Store open(StoreAddress address) {
    return PostgresStore.open(AddressOptions.of(address));
  }

  @Override
  public Store openReadOnly(StoreAddress address) {
    return PostgresStore.openReadOnly(AddressOptions.of(address));
  }
}
