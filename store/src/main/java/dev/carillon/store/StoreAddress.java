package dev.carillon.store;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import java.util.Map;
import java.util.TreeSet;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where a store is.
 *
 * @param url its URL, which says which kind it is
 * @param dataSource where connections come from; null where the URL says all
 * @param options further settings, by names that the kind of store knows
 */
public record StoreAddress(
    String url, @Nullable DataSource dataSource, Map<String, String> options) {

  public StoreAddress {
    Limits.checkPresent("url", url);
    options = Map.copyOf(options);
  }

  /** The store at a URL, without further settings. */
  public static StoreAddress of(String url) {
    return new StoreAddress(url, null, Map.of());
  }

  /**
   * For kinds that have no settings.
   *
   * @throws dev.carillon.api.error.InvalidArgumentException if there is one
   */
  public void requireNoOptions() {
    if (!options.isEmpty()) {
      throw new InvalidArgumentException(
          "store options: %s (expected: none for %s)"
              .formatted(new TreeSet<>(options.keySet()), url));
    }
  }

  /** Without the values of options, one of which may be a password. */
  @Override
  public String toString() {
    return "StoreAddress[" + url.replaceAll("[?].*", "") + ", " + options.keySet() + "]";
  }
}
