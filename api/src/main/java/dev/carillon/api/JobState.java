package dev.carillon.api;

import dev.carillon.api.internal.Check;

/**
 * Where a job is in its life. The set is closed, and the codes are stored: they never change and
 * none is used again.
 */
public enum JobState {
  /** Waits for its due time, the first or that of a retry. */
  SCHEDULED(1),
  /** Is due and waits for a free slot. */
  READY(2),
  /** Has an attempt under way. */
  RUNNING(3),
  /** A workflow waits for a timer, a child or a signal; it holds no slot. */
  WAITING(4),
  /** Held by request until resumed. */
  PAUSED(5),
  /** Cannot go on for a {@link BlockReason}; goes on by itself when the cause is gone. */
  BLOCKED(6),
  /** Ended: its work is done. */
  SUCCEEDED(7),
  /** Ended: it failed, and its policy says that this is all; or its concurrency key was full. */
  FAILED(8),
  /** Ended: cancelled by request, by its own rules, or with what it waited for. */
  CANCELLED(9),
  /** Ended: its deadline passed first. */
  EXPIRED(10),
  /** Ended: given up, kept with its evidence as a dead letter. */
  DEAD(11);

  private final int code;

  JobState(int code) {
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
   * Whether the job is over; only a dead letter that is replayed leaves such a state.
   *
   * @return true for SUCCEEDED, FAILED, CANCELLED, EXPIRED and DEAD
   */
  public boolean ended() {
    return switch (this) {
      case SUCCEEDED, FAILED, CANCELLED, EXPIRED, DEAD -> true;
      case SCHEDULED, READY, RUNNING, WAITING, PAUSED, BLOCKED -> false;
    };
  }

  /**
   * The state with a code.
   *
   * @param code a code that {@link #code()} gave
   * @return the state
   * @throws IllegalArgumentException if no state has the code
   */
  public static JobState ofCode(int code) {
    return switch (code) {
      case 1 -> SCHEDULED;
      case 2 -> READY;
      case 3 -> RUNNING;
      case 4 -> WAITING;
      case 5 -> PAUSED;
      case 6 -> BLOCKED;
      case 7 -> SUCCEEDED;
      case 8 -> FAILED;
      case 9 -> CANCELLED;
      case 10 -> EXPIRED;
      case 11 -> DEAD;
      default ->
          throw new IllegalArgumentException(Check.problem("job state code", code, "1 to 11"));
    };
  }
}
