package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.util.Locale;

/**
 * What can keep a job from starting, in the order in which it would have to go. The codes cross the
 * wire between nodes: they never change and none is used again.
 */
public enum WaitReason {
  /** Its time has not come: that of its schedule, of a retry, or a later one that was set. */
  NOT_DUE(1),
  /** It is a workflow, and its code waits for a signal, a child or a time. */
  WAITING(2),
  /** It, its queue or its namespace is paused. */
  PAUSED(3),
  /** A job that it waits for has not ended. */
  DEPENDENCY(4),
  /** It is an occurrence, and the one before it has not ended. */
  OVERLAP(5),
  /** No handler is registered for its type. */
  NO_HANDLER(6),
  /** No handler here reads it: its input does not decode, or its history does not fit. */
  UNFIT(7),
  /** Its concurrency key is taken. */
  KEY(8),
  /** As many attempts of its queue, namespace or handler run as may. */
  LIMIT(9),
  /** Attempts of its queue, namespace or key start as often as they may. */
  RATE(10),
  /** Others are before it. */
  TURN(11),
  /** As many attempts run on its node as may. */
  SLOT(12),
  /** It waits to run alone, or another job runs alone. */
  ALONE(13),
  /** A transaction that may have completed it is open. */
  TRANSACTION(14),
  /** Something of it is being read from the store or written to it. */
  STORE(15),
  /** Its node may not start anything. */
  NODE(16),
  /** Its shard has no owner, is on its way to one, or cannot be read. */
  SHARD(17);

  private final int code;

  WaitReason(int code) {
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
   * The name in lower case with hyphens, for people and meters.
   *
   * @return such as {@code no-handler}
   */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * The reason with a code.
   *
   * @param code a code that {@link #code()} gave
   * @return the reason
   * @throws IllegalArgumentException if no reason has the code
   */
  public static WaitReason ofCode(int code) {
    for (WaitReason each : values()) {
      if (each.code == code) {
        return each;
      }
    }
    throw new IllegalArgumentException(Check.problem("wait reason code", code, "1 to 17"));
  }
}
