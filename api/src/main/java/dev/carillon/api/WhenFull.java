package dev.carillon.api;

import dev.carillon.api.internal.Check;

/**
 * What becomes of a due job when as many attempts run under its concurrency key as may. The limit
 * holds under each of them. A retry waits, whatever the rule. The codes are stored: they never
 * change and none is used again.
 */
public enum WhenFull {
  /** It waits its turn, by priority, then due time. */
  WAIT(1),
  /** It ends as {@link JobState#FAILED} without an attempt; a recurring job skips that time. */
  REJECT(2),
  /**
   * The oldest of those that run or wait under the key is cancelled, of a recurring job that
   * occurrence; it starts once there is room.
   */
  CANCEL_RUNNING(3),
  /** It ends as {@link JobState#CANCELLED} without an attempt; a recurring job skips that time. */
  CANCEL_NEWEST(4);

  private final int code;

  WhenFull(int code) {
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
  public static WhenFull ofCode(int code) {
    return switch (code) {
      case 1 -> WAIT;
      case 2 -> REJECT;
      case 3 -> CANCEL_RUNNING;
      case 4 -> CANCEL_NEWEST;
      default -> throw new IllegalArgumentException(Check.problem("when full", code, "1 to 4"));
    };
  }
}
