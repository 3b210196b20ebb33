package dev.carillon.store;

import dev.carillon.api.error.InvalidArgumentException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Finds the provider for an address among those on the class path. */
public final class Stores {

  /** What to add for stores that are artifacts of their own, by how their URLs begin. */
  private static final Map<String, String> ARTIFACTS =
      Map.of(
          "jdbc:sqlite:", "dev.carillon:carillon-sqlite",
          "jdbc:postgresql:", "dev.carillon:carillon-postgres");

  private Stores() {}

  /**
   * Opens the store at an address; see {@link StoreProvider#open}.
   *
   * @throws dev.carillon.api.error.InvalidArgumentException also if no provider knows the URL; says
   *     which artifact to add where there is one
   */
  public static Store open(StoreAddress address) {
    return provider(address.url()).open(address);
  }

  /** Opens the store at an address for reading; see {@link StoreProvider#openReadOnly}. */
  public static Store openReadOnly(StoreAddress address) {
    return provider(address.url()).openReadOnly(address);
  }

  /** The URL that a data source connects to; null where no provider can read its settings. */
  public static @Nullable String urlOf(DataSource dataSource) {
    for (StoreProvider provider : providers()) {
      String url = provider.urlOf(dataSource);
      if (url != null) {
        return url;
      }
    }
    return null;
  }

  private static StoreProvider provider(String url) {
    return choose(url, providers());
  }

  private static List<StoreProvider> providers() {
    return ServiceLoader.load(StoreProvider.class, Stores.class.getClassLoader()).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  /** The one of {@code providers} that knows the URL. */
  static StoreProvider choose(String url, List<StoreProvider> providers) {
    for (StoreProvider provider : providers) {
      if (provider.knows(url)) {
        return provider;
      }
    }
    String begin = url.toLowerCase(Locale.ROOT);
    for (Map.Entry<String, String> known : ARTIFACTS.entrySet()) {
      if (begin.startsWith(known.getKey())) {
        throw new InvalidArgumentException(
            "url: %s…: its store is not on the class path (expected: the artifact %s)"
                .formatted(known.getKey(), known.getValue()));
      }
    }
    throw new InvalidArgumentException(
        "url: %s (expected: %s)"
            .formatted(
                url,
                providers.stream()
                    .map(StoreProvider::form)
                    .sorted()
                    .collect(Collectors.joining("; or "))));
  }
}
