package dev.carillon.api.error;

import dev.carillon.api.internal.Check;
import java.util.Objects;

/**
 * Terminal for this version: the store was written by a newer one. Nothing was changed; run a
 * version that reads it.
 */
public final class StoreVersionException extends CarillonException {

  private final String where;
  private final int found;
  private final int supported;

  /**
   * For a store that is too new.
   *
   * @param where the store, such as its file
   * @param found its format version
   * @param supported the newest format version this version reads
   */
  public StoreVersionException(String where, int found, int supported) {
    super(
        Check.problem(
            "store version of " + where, found, "at most " + supported + "; use a newer Carillon"),
        null);
    this.where = Objects.requireNonNull(where, "where");
    this.found = found;
    this.supported = supported;
  }

  /**
   * The store that is too new.
   *
   * @return the store, such as its file
   */
  public String where() {
    return where;
  }

  /**
   * The format version of the store.
   *
   * @return the version found
   */
  public int found() {
    return found;
  }

  /**
   * The newest format version this version reads.
   *
   * @return the version supported
   */
  public int supported() {
    return supported;
  }
}
