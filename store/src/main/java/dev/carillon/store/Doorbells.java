package dev.carillon.store;

/**
 * Lets a node know at once that there is something to look for, instead of at its next poll. A ring
 * is a hint and nothing else: it may be lost, come late, twice or unasked for, so whoever listens
 * polls as well and loses only time. Nothing is stored.
 *
 * <p>A store that declares {@link StoreInfo.Capability#PUSH} carries rings between all that have it
 * open; others have {@link #NONE}. Thread-safe.
 */
public interface Doorbells {

  /** The longest name, in UTF-8. */
  int MAX_NAME_BYTES = 2 << 10;

  /** Rings nowhere, and nobody hears anything. */
  Doorbells NONE =
      new Doorbells() {
        @Override
        public void ring(String name) {}

        @Override
        public Listening listen(String name, Runnable heard) {
          return () -> {};
        }
      };

  /**
   * Rings for all that listen to {@code name}, in any process. To be called when what they are to
   * find is acknowledged. Does not fail: where it cannot be carried the ring is lost.
   */
  void ring(String name);

  /**
   * Has {@code heard} run at each ring of {@code name}, and whenever rings may have been missed. It
   * runs on a thread of the store or of whoever rings, and must neither block nor throw.
   */
  Listening listen(String name, Runnable heard);

  /** Ends with {@link #close}; a ring under way may still be heard. */
  @FunctionalInterface
  interface Listening extends AutoCloseable {
    @Override
    void close();
  }
}
