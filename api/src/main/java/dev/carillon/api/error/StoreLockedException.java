package dev.carillon.api.error;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operator acts: the store belongs to one process at a time, and another one has it. Nothing was
 * changed. The lock ends with the process that holds it, however that ends.
 */
public final class StoreLockedException extends CarillonException {

  private final String where;

  /**
   * For a store that is held.
   *
   * @param where the store, such as its file
   */
  public StoreLockedException(String where) {
    this(where, null);
  }

  /**
   * For a store that is held, with a cause.
   *
   * @param where the store, such as its file
   * @param cause what found it, or null
   */
  public StoreLockedException(String where, @Nullable Throwable cause) {
    super("store: " + where + " is in use (expected: a store that nobody else has open)", cause);
    this.where = Objects.requireNonNull(where, "where");
  }

  /**
   * The store that is held.
   *
   * @return the store, such as its file
   */
  public String where() {
    return where;
  }
}
