package dev.carillon;

import java.util.concurrent.CompletableFuture;

/** What a {@link TimeSource} that is moved by hand needs of a node's loop. Thread-safe. */
public interface LoopControl {

  /** The clocks have moved: the node looks at them now and does what has become due. */
  void clockMoved();

  /**
   * When the node has nothing left to do by its clocks: no handler runs, nothing waits for the
   * store or for a caller, no job is due.
   *
   * @return a future that completes at that moment, on a thread of the node's; exceptionally if it
   *     is closed first
   */
  CompletableFuture<Quiet> whenQuiet();

  /**
   * When a quiet node has something to do next.
   *
   * @param nextDueMicros by the wall clock, microseconds since 1970; {@link Long#MAX_VALUE} if no
   *     job in memory waits for a time
   * @param nanosToNextTimer until the next internal timer by the monotonic clock; {@link
   *     Long#MAX_VALUE} if there is none
   */
  record Quiet(long nextDueMicros, long nanosToNextTimer) {}
}
