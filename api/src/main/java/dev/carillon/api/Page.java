package dev.carillon.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list.
 *
 * @param items the items, unmodifiable; a page may be short, even empty, and not be the last
 * @param next the cursor of the next page, or null if this is the last
 * @param <T> the kind of items
 */
public record Page<T>(List<T> items, @Nullable String next) {

  /** Copies the items. */
  public Page {
    items = List.copyOf(items);
  }
}
