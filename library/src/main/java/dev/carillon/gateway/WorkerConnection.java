package dev.carillon.gateway;

import dev.carillon.RawPayload;
import dev.carillon.api.AttemptToken;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a worker says to the node that it is connected to. Each method returns at once; the node
 * hears the words in the order in which they are said. What is said after {@link #gone}, or once
 * the node is closed, is not heard. Thread-safe.
 *
 * <p>Nothing here holds up a gateway that reads faster than the node hears: it is to wait for
 * {@link #whenHeard} now and then.
 */
public interface WorkerConnection {

  /**
   * The worker still has these attempts, which it may have had from another node or an earlier
   * connection. It says so behind hello, and again for as long as nobody has answered
   * <i>leased</i>, <i>settled</i>, <i>stale</i> or <i>stop</i>.
   *
   * @param tokens of the attempts
   */
  void resume(List<AttemptToken> tokens);

  /**
   * The worker could run so many more attempts: an absolute number, which replaces the last.
   *
   * @param slots how many; a negative number is not heard
   * @param lastSeen the {@link GivenAttempt#sequence()} of the last attempt that the worker had
   *     seen of this connection when it said so; 0 before the first
   */
  void free(int slots, long lastSeen);

  /**
   * The worker has the attempt. What is not accepted within five seconds goes to another.
   *
   * @param token of the attempt
   */
  void accepted(AttemptToken token);

  /**
   * How an attempt went. The answer is {@link WorkerListener#settled} once the outcome is durable,
   * or {@link WorkerListener#stale}; where neither comes, the worker is to say it again to every
   * node that it is connected to: it counts once.
   *
   * @param token of the attempt
   * @param outcome how it went
   */
  void outcome(AttemptToken token, WorkerOutcome outcome);

  /**
   * The worker has not begun the attempt and does not want to: it is as if it had not been made.
   *
   * @param token of the attempt
   */
  void refuse(AttemptToken token);

  /**
   * Keeps the resume position of an attempt, which later attempts of the job are given.
   *
   * @param token of the attempt
   * @param state the position
   * @param answer told once what became of it, on a thread of the node: it is to return at once. It
   *     hears nothing where the node ends meanwhile
   */
  void save(AttemptToken token, RawPayload state, Consumer<SaveAnswer> answer);

  /** What became of a resume position. */
  enum SaveAnswer {
    /** It is durable. */
    SAVED,
    /** The attempt is not the current one, or not known here; nothing was saved. */
    STALE,
    /** The store could not be reached; nothing was saved. */
    UNAVAILABLE,
    /** It may be saved or not; to save again is safe. */
    UNKNOWN
  }

  /**
   * How far an attempt's job is.
   *
   * @param token of the attempt
   * @param progress how far
   */
  void progress(AttemptToken token, WorkerProgress progress);

  /**
   * The worker is there. Answered by {@link WorkerListener#beat} while the node is sure that no
   * other has its jobs. To be said at least every five seconds.
   *
   * @param number which the answer names
   */
  void beat(long number);

  /** The worker takes nothing more. */
  void drain();

  /** The connection has ended; what the worker has goes on by its leases. */
  void gone();

  /**
   * Runs something once all that was said before is heard.
   *
   * @param then run on a thread of the node: it is to return at once
   */
  void whenHeard(Runnable then);
}
