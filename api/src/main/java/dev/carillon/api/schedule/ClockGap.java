package dev.carillon.api.schedule;

import dev.carillon.api.internal.Check;

/**
 * What becomes of a time that does not exist, because clocks are set forward over it. It concerns
 * the fixed times of a cron {@link Schedule}; one that ticks in every hour follows real time and
 * has nothing to make up for. The codes are stored: they never change and none is used again.
 */
public enum ClockGap {
  /**
   * The occurrence is due at the first instant after the gap; once, if several times of the
   * schedule fall into the gap, or one falls on its end. The default.
   */
  FIRST_VALID(1),

  /** There is no occurrence for a time that does not exist. */
  SKIP(2);

  private final int code;

  ClockGap(int code) {
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
  public static ClockGap ofCode(int code) {
    return switch (code) {
      case 1 -> FIRST_VALID;
      case 2 -> SKIP;
      default ->
          throw new IllegalArgumentException(Check.problem("clock gap code", code, "1 to 2"));
    };
  }
}
