package dev.carillon.api;

import dev.carillon.api.internal.Check;

/**
 * Why a job is {@link JobState#BLOCKED}. Blocking costs no attempt and loses nothing. The codes are
 * stored: they never change and none is used again.
 */
public enum BlockReason {
  /** No handler is registered for its type; it goes at once when one is. */
  NO_HANDLER(1),
  /** Its stored input cannot be decoded; the bytes are kept as they are. */
  UNDECODABLE(2),
  /** A workflow's code no longer fits its history. */
  DIVERGED(3),
  /**
   * As many attempts of its handler, or under its concurrency key, run or start as may; or an
   * occurrence before it has not ended.
   */
  LIMIT(4),
  /** A job that it depends on has not ended. */
  DEPENDENCY(5);

  private final int code;

  BlockReason(int code) {
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
   * The reason with a code.
   *
   * @param code a code that {@link #code()} gave
   * @return the reason
   * @throws IllegalArgumentException if no reason has the code
   */
  public static BlockReason ofCode(int code) {
    return switch (code) {
      case 1 -> NO_HANDLER;
      case 2 -> UNDECODABLE;
      case 3 -> DIVERGED;
      case 4 -> LIMIT;
      case 5 -> DEPENDENCY;
      default ->
          throw new IllegalArgumentException(Check.problem("block reason code", code, "1 to 5"));
    };
  }
}
