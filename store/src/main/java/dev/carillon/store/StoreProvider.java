package dev.carillon.store;

import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Opens the stores of one kind. Providers are found by {@link java.util.ServiceLoader}, so that a
 * program that has a store's artifact on its class path needs nothing but the address, and one that
 * has not needs no driver. Has a public constructor without parameters; thread-safe.
 *
 * @see Stores
 */
public interface StoreProvider {

  /** What its URLs look like, for messages: {@code jdbc:sqlite:FILE}. */
  String form();

  /** Whether a URL is of its kind, as far as its beginning says. */
  boolean knows(String url);

  /**
   * The URL that a data source connects to, read from its settings: no connection is made. Null
   * where this kind does not know such data sources.
   */
  default @Nullable String urlOf(DataSource dataSource) {
    return null;
  }

  /**
   * Opens the store at an address, making it where there is none.
   *
   * @throws IllegalArgumentException if the address is not well-formed or has an option that this
   *     kind does not know
   * @throws dev.carillon.api.error.StoreLockedException if another process has it and only one may
   * @throws dev.carillon.api.error.StoreUnavailableException if it cannot be reached or written
   * @throws dev.carillon.api.error.StoreRefusedException if it can never be opened like this: a
   *     wrong user, password, database or host, or a right that is missing
   * @throws dev.carillon.api.error.StoreVersionException if a newer version wrote it
   * @throws dev.carillon.api.error.StoreCorruptedException if it is damaged
   */
  Store open(StoreAddress address);

  /**
   * Opens an existing store for reading, also while others write to it: makes nothing, changes
   * nothing, and every write answers unavailable.
   *
   * @throws IllegalArgumentException as {@link #open}, and where this kind cannot be read beside
   *     others
   * @throws dev.carillon.api.error.StoreUnavailableException if it cannot be reached, or is not
   *     there
   */
  Store openReadOnly(StoreAddress address);
}
