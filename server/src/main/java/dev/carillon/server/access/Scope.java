package dev.carillon.server.access;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which namespaces or queues a caller may reach: all of them, or those of a list. Immutable.
 *
 * @param all whether it is all, those to come included
 * @param names the list; empty for all
 */
public record Scope(boolean all, Set<String> names) {
  /** How all of them are written. */
  public static final String ALL_WORD = "*";

  /** How many names a list may have. */
  public static final int MAX_NAMES = 32;

  /** All. */
  public static final Scope ALL = new Scope(true, Set.of());

  /** Copies the names. */
  public Scope {
    names = Set.copyOf(names);
  }

  /**
   * A scope of names.
   *
   * @param names the names; {@value #ALL_WORD} alone for all
   * @return the scope
   * @throws IllegalArgumentException if there are none, too many, or {@value #ALL_WORD} among
   *     others
   */
  public static Scope of(Collection<String> names) {
    if (names.size() == 1 && names.contains(ALL_WORD)) {
      return ALL;
    }
    if (names.isEmpty() || names.size() > MAX_NAMES || names.contains(ALL_WORD)) {
      throw new IllegalArgumentException(
          "%d names%s (expected: 1 to %d names, or * alone)"
              .formatted(names.size(), names.contains(ALL_WORD) ? " and *" : "", MAX_NAMES));
    }
    return new Scope(false, Set.copyOf(names));
  }

  /** Whether a name is among them. */
  public boolean has(String name) {
    return all || names.contains(name);
  }

  /** The names as they are written, in their order. */
  public Set<String> words() {
    return all ? Set.of(ALL_WORD) : new TreeSet<>(names);
  }
}
