package dev.carillon.store;

import java.time.Duration;

/**
 * Where shards live: journals that only their owner may extend, and small versioned records.
 *
 * <p>Calls block and may be made from any thread. No driver exception escapes: every call ends as
 * exactly one {@link Outcome}. Safety never rests on a clock; what decides is the epoch, compared
 * in the same atomic step as the write. {@code docs/store-contract.md} numbers the promises (S1 to
 * S17) and the conformance suite shows each of them.
 */
public interface Store extends AutoCloseable {

  /** What this store is and how far its promises go. */
  StoreInfo info();

  /**
   * Names this copy of the data. It changes when the data may have gone back in time (a restored
   * backup, a promoted asynchronous standby): whoever sees a change drops what it holds,
   * {@linkplain #adopt adopts} the copy and claims anew. Until then every write answers {@link
   * Outcome.Unavailable}: what was decided by another copy must not be written to this one.
   */
  String incarnation();

  /**
   * Says that nothing is held any more that was learnt from another copy, and that no write is
   * under way that rests on it: from now on writes go to the copy of this name, as long as it is
   * the one that is there. Does nothing in a store whose copy cannot change while it is open.
   */
  default void adopt(String incarnation) {}

  /**
   * What the clock shows that all who share the store can read alike: the server's, or this
   * process's own where nobody else has the store. No promise rests on it; nodes compare their
   * clocks with it.
   *
   * @return microseconds since 1970
   */
  Outcome<Long> clockMicros();

  /**
   * How long one statement of a node may take before the store ends it, and with it what the
   * statement has locked; zero where there is no such limit. A node that is dead to others for less
   * than that may still hold locks on its shards.
   */
  default Duration longestStatement() {
    return Duration.ZERO;
  }

  /** The journals of all shards. */
  Journals journals();

  /** The small versioned values: names, keys, control records. */
  Records records();

  /** What carries news between nodes without a poll; none by default. */
  default Doorbells doorbells() {
    return Doorbells.NONE;
  }

  /**
   * What users' own transactions share with the store.
   *
   * @throws UnsupportedOperationException if the store does not declare {@link
   *     StoreInfo.Capability#TRANSACTIONS}
   */
  default Transactions transactions() {
    throw new UnsupportedOperationException(
        "store: " + info().kind() + " (expected: one with transactions of users' own)");
  }

  /** Releases what the store holds open. Nothing acknowledged is lost by not calling it. */
  @Override
  void close();
}
