package dev.carillon.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list.
 *
 * @param items the items, unmodifiable; a page may be short, even empty, and not be the last
 * @param next the cursor of the next page, or null if this is the last
 * @param unreadable what had to be left out because it is damaged, for people; mostly empty
 * @param <T> the kind of items
 */
public record Page<T>(List<T> items, @Nullable String next, List<String> unreadable) {

  /** Copies the lists. */
  public Page {
    items = List.copyOf(items);
    unreadable = List.copyOf(unreadable);
  }
}
