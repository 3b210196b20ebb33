package dev.carillon.store;

import dev.carillon.api.error.InvalidArgumentException;
import java.util.Locale;

/** Opens stores in memory, each of them new. */
public final class MemoryProvider implements StoreProvider {

  private static final String URL = "memory:";

  /** For the service loader. */
  public MemoryProvider() {}

  @Override
  public String form() {
    return "memory: for throw-away work";
  }

  @Override
  public boolean knows(String url) {
    return url.toLowerCase(Locale.ROOT).equals(URL);
  }

  @Override
  public Store open(StoreAddress address) {
    address.requireNoOptions();
    return new MemoryStore();
  }

  @Override
  public Store openReadOnly(StoreAddress address) {
    throw new InvalidArgumentException(
        "url: memory: (expected: a store that outlives its process)");
  }
}
