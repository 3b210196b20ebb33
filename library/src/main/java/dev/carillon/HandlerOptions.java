package dev.carillon;

import dev.carillon.api.Upcaster;
import org.jspecify.annotations.Nullable;

/**
 * How a handler is to be used. Start from {@link #defaults()}; each method returns a copy.
 *
 * @param limit how many of its attempts run at once on this node, at least 1
 * @param upcaster for inputs written with an older version of the type, or null
 */
public record HandlerOptions(int limit, @Nullable Upcaster upcaster) {

  private static final HandlerOptions DEFAULTS = new HandlerOptions(Integer.MAX_VALUE, null);

  /**
   * Checks the limit.
   *
   * @throws IllegalArgumentException if it is below 1
   */
  public HandlerOptions {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " (expected: at least 1)");
    }
  }

  /**
   * No limit of its own and no upcaster.
   *
   * @return the defaults
   */
  public static HandlerOptions defaults() {
    return DEFAULTS;
  }

  /**
   * With a limit on the attempts that run at once on this node. Those above it wait, and are shown
   * as blocked by {@link dev.carillon.api.BlockReason#LIMIT}.
   *
   * @param limit at least 1
   * @return a copy
   */
  public HandlerOptions limit(int limit) {
    return new HandlerOptions(limit, upcaster);
  }

  /**
   * With an upcaster for inputs of older versions. Without one such a job is blocked as {@link
   * dev.carillon.api.BlockReason#UNDECODABLE}.
   *
   * @param upcaster the upcaster
   * @return a copy
   */
  public HandlerOptions upcaster(Upcaster upcaster) {
    return new HandlerOptions(limit, upcaster);
  }
}
