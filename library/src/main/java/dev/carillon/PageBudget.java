package dev.carillon;

import dev.carillon.api.JobQuery;
import dev.carillon.store.Store;
import java.time.Duration;

/**
 * What the reading of a page may cost: the time of the query, and so many blocks of journals for it
 * that one page after the other leaves the store free for the jobs themselves.
 */
final class PageBudget {
  private static final long BLOCKS_A_SECOND = 500;

  private final CountedReads reads;
  private final long deadlineNanos;
  private final long mostBlocks;
  private long blocksBefore;
  private long mostAtOnce;

  PageBudget(Store store, JobQuery query) {
    this.reads = new CountedReads(store);
    this.deadlineNanos = System.nanoTime() + query.within().toNanos();
    this.mostBlocks = blocks(query.within());
  }

  /** How many blocks may be read in a time. */
  static long blocks(Duration time) {
    return time.toMillis() * BLOCKS_A_SECOND / 1_000;
  }

  /** The store, to be read by one thread. */
  Store store() {
    return reads;
  }

  /** Whether the page is given as it is: one more such step as those before would be too much. */
  boolean isSpent() {
    mostAtOnce = Math.max(mostAtOnce, reads.blocks() - blocksBefore);
    blocksBefore = reads.blocks();
    return deadlineNanos - System.nanoTime() < 0 || reads.blocks() + mostAtOnce > mostBlocks;
  }
}
