package dev.carillon.gateway;

import dev.carillon.api.AttemptToken;
import java.time.Duration;

/**
 * What a node says to a worker. All methods are called by one thread of the node, in order, and are
 * to return at once: they put the word into a queue of the connection, which has a limit; where
 * that is full the gateway ends the connection by {@link WorkerConnection#gone}. A method that
 * throws ends it too.
 */
public interface WorkerListener {

  /**
   * The worker is to run the attempt.
   *
   * @param attempt what to run
   */
  void given(GivenAttempt attempt);

  /**
   * The worker may go on with the attempt without this node, as long as its beats are answered; it
   * counts from when the last answered beat was <i>sent</i>.
   *
   * @param token of the attempt
   * @param length how long it may go on after that
   */
  void leased(AttemptToken token, Duration length);

  /**
   * The worker is to stop the attempt, or to save and return.
   *
   * @param token of the attempt
   * @param why the reason
   */
  void stop(AttemptToken token, StopReason why);

  /** Why an attempt is asked to stop. */
  enum StopReason {
    /** Its job was cancelled. */
    CANCELLED,
    /** It took longer than its timeout. */
    TIMED_OUT,
    /** The deadline of its job is over. */
    EXPIRED,
    /** Its job was paused: it may save and give itself back, or go on to its end, which counts. */
    PAUSED,
    /** Its node stops: the same. */
    SHUTDOWN,
    /** Another worker may have its job: whatever becomes of it does not count. */
    ELSEWHERE
  }

  /**
   * The outcome of the attempt is durable: the worker forgets it.
   *
   * @param token of the attempt
   */
  void settled(AttemptToken token);

  /**
   * The attempt is not the current one: its outcome is refused, and what runs of it is to stop.
   *
   * @param token of the attempt
   */
  void stale(AttemptToken token);

  /**
   * Another node has the attempt, or will have it: its lease is not renewed here any more, and the
   * worker says to every node, by <i>resume</i>, that it has it.
   *
   * @param token of the attempt
   */
  void moved(AttemptToken token);

  /**
   * A beat was heard, and renews the leases that the worker has of this node.
   *
   * @param number of the beat
   */
  void beat(long number);

  /** The node stops: nothing more is given. */
  void drain();

  /**
   * The connection is over: the worker is to connect again.
   *
   * @param why the reason
   */
  void close(String why);
}
