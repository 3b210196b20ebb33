package dev.carillon.engine.environment;

import dev.carillon.api.JobListener;
import dev.carillon.api.Metrics;
import dev.carillon.store.Store;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Everything the engine needs of the world: clocks, randomness, the store and handlers come in
 * through here and nowhere else, so that a whole node runs inside a deterministic simulation.
 */
public interface NodeEnvironment {

  /** The wall clock, microseconds since 1970; may jump either way. */
  long wallMicros();

  /** A clock that only moves forward, from an arbitrary origin. */
  long monotonicNanos();

  /** A random number. */
  long random();

  /**
   * Runs {@code work} beside the loop and gives its result back to the loop. Work of one channel
   * runs in order, one at a time. {@code work} does not throw.
   */
  <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done);

  /** What kinds of store calls do not wait for each other. */
  enum Channel {
    /** Group commits. */
    COMMIT,
    /** Group commits beside those, of other journals. */
    COMMIT_BESIDE,
    /** All that changes heads, and resolutions. */
    CONTROL,
    /** Names, rates and what operators set. */
    RECORDS,
    /** Listings and loads. */
    READ,
    /** Packing and compactions. */
    PACK,
    /** This node's heartbeat, and the heartbeats of others. */
    HEARTBEAT,
    /** What users' transactions have written for us to take. */
    INBOX,
    /** What users' transactions have completed. */
    COMPLETIONS,
    /** Notifications for other nodes. */
    NOTIFICATIONS
  }

  /** Whether the store takes two group commits at once, of different journals. */
  default boolean commitsBeside() {
    return false;
  }

  /** Whether users' transactions can add jobs and complete attempts. */
  default boolean hasTransactions() {
    return false;
  }

  /**
   * Which {@linkplain Store#incarnation copy} the store was, and was adopted as, before the node
   * asked anything of it; the same one at each call.
   */
  String firstCopy();

  /** Where figures go. */
  Metrics metrics();

  /** Told of jobs as they go, or null where nobody listens; must return at once. */
  @Nullable JobListener listener();

  /** News for the people who run the node; must return at once. */
  default void tell(NodeEvent event) {}

  /**
   * What is remembered of the node's figures, for those who ask all nodes; must return at once.
   *
   * @param ring which of the rings, by its code
   * @param afterSeconds only intervals that begin later, in seconds since 1970
   * @return as its reader has it; empty where nothing is kept
   */
  default byte[] past(int ring, long afterSeconds) {
    return new byte[0];
  }

  /** Something went wrong that nobody is waiting to hear; said once per cause. */
  void report(String problem, @Nullable Throwable cause);
}
