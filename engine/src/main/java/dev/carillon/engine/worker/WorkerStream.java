package dev.carillon.engine.worker;

import dev.carillon.api.AttemptToken;
import dev.carillon.engine.attempt.Attempt;

/**
 * The way to a worker that is connected. All methods are called on the loop, return at once and
 * keep the order; a way that has no room left ends its connection by {@link Workers#gone}.
 */
public interface WorkerStream {
  /**
   * The worker is to run the attempt.
   *
   * @param number of the attempt among those given by this connection, from 1
   */
  void give(Attempt attempt, long number);

  /**
   * The worker may go on with the attempt without this node, as long as its beats are answered.
   *
   * @param lengthMicros how long it may go on after the last one
   */
  void leased(AttemptToken token, long lengthMicros);

  /** The attempt is one of this node's, and the worker is heard of it here. */
  default void known(AttemptToken token) {}

  /** The worker is to stop the attempt, or to save and return. */
  void stop(AttemptToken token, Attempt.StopCause why);

  /** What has become of the attempt. */
  void told(AttemptToken token, Word word);

  /** The beat of that number was heard, and renews the leases that this node knows. */
  void beat(long number);

  /** The node stops: nothing more is given. */
  default void drain() {}

  /** Nothing was heard of the worker for too long. */
  void close(String why);

  /** What has become of an attempt. */
  enum Word {
    /** The outcome is durable. */
    SETTLED,
    /** It is not the current one: its outcome is refused, and what runs of it is to stop. */
    STALE,
    /** Another node has it, or will have it: its lease is not renewed here any more. */
    MOVED
  }
}
