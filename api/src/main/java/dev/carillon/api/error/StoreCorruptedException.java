package dev.carillon.api.error;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Terminal: stored bytes are damaged. Nothing is skipped or guessed; the damaged part is refused
 * until an operator restores it.
 */
public final class StoreCorruptedException extends CarillonException {

  private final String where;

  /**
   * For a damaged place.
   *
   * @param where the place, as precisely as known: file, journal, position
   * @param problem what is wrong there
   */
  public StoreCorruptedException(String where, String problem) {
    this(where, problem, null);
  }

  /**
   * For a damaged place, with a cause.
   *
   * @param where the place, as precisely as known: file, journal, position
   * @param problem what is wrong there
   * @param cause what found it, or null
   */
  public StoreCorruptedException(String where, String problem, @Nullable Throwable cause) {
    super("store: damaged at " + where + ": " + problem + " (expected: intact data)", cause);
    this.where = Objects.requireNonNull(where, "where");
  }

  /**
   * The damaged place.
   *
   * @return file, journal, position, as precisely as known
   */
  public String where() {
    return where;
  }
}
