package dev.carillon;

import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.function.Supplier;

/** Counts what one caller reads of journals, in blocks. Used by one thread at a time. */
final class CountedReads extends ForwardingStore {
  private static final long BLOCK_BYTES = 256 << 10;

  private long blocks;

  CountedReads(Store store) {
    super(store);
  }

  /** How many blocks were read: a read counts as one at least. */
  long blocks() {
    return blocks;
  }

  @Override
  protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
    Outcome<T> outcome = next.get();
    if (operation == Operation.READ) {
      long bytes = 0;
      if (outcome instanceof Outcome.Ok<T>(ReadPage page)) {
        bytes = page.entries().stream().mapToLong(entry -> entry.data().length).sum();
      }
      blocks += Math.max(1, (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    }
    return outcome;
  }
}
