package dev.carillon.api.schedule;

import dev.carillon.api.internal.Check;

/**
 * What becomes of a time that comes twice, because clocks are set back over it. It concerns the
 * fixed times of a cron {@link Schedule}; one that ticks in every hour follows real time through
 * both. The codes are stored: they never change and none is used again.
 */
public enum ClockOverlap {
  /** One occurrence, when the time comes first. The default. */
  FIRST(1),

  /** One occurrence, when the time comes again. */
  SECOND(2),

  /** Two occurrences. */
  BOTH(3);

  private final int code;

  ClockOverlap(int code) {
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
  public static ClockOverlap ofCode(int code) {
    return switch (code) {
      case 1 -> FIRST;
      case 2 -> SECOND;
      case 3 -> BOTH;
      default ->
          throw new IllegalArgumentException(Check.problem("clock overlap code", code, "1 to 3"));
    };
  }
}
