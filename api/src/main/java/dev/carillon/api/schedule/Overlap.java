package dev.carillon.api.schedule;

import dev.carillon.api.internal.Check;

/**
 * What happens when an occurrence of a {@link Schedule} is due while an earlier one has not ended.
 * The codes are stored: they never change and none is used again.
 */
public enum Overlap {
  /** The occurrence that is due does not take place. The default. */
  SKIP(1),

  /** It waits for the end of the earlier one; of several that wait, one takes place. */
  BUFFER_ONE(2),

  /** It waits for the end of the earlier one; all that wait take place, one after the other. */
  BUFFER_ALL(3),

  /** The earlier one is cancelled and this one takes its place. */
  CANCEL_RUNNING(4),

  /** Both run at once. */
  ALLOW(5);

  private final int code;

  Overlap(int code) {
    this.code = code;
  }

  /**
   * The stable code.
   *
   * @return from 1; 0 is reserved
   */
  public int code() {
    return code;
  }

  /**
   * The rule with a code.
   *
   * @param code a code that {@link #code()} gave
   * @return the rule
   * @throws IllegalArgumentException if no rule has the code
   */
  public static Overlap ofCode(int code) {
    return switch (code) {
      case 1 -> SKIP;
      case 2 -> BUFFER_ONE;
      case 3 -> BUFFER_ALL;
      case 4 -> CANCEL_RUNNING;
      case 5 -> ALLOW;
      default -> throw new IllegalArgumentException(Check.problem("overlap code", code, "1 to 5"));
    };
  }
}
