package dev.carillon.bench;

import dev.carillon.store.Append;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/** Counts the calls that a store gets and passes them on. */
final class CountedStore extends ForwardingStore {
  private final LongAdder groups = new LongAdder();
  private final LongAdder entries = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder appendNanos = new LongAdder();
  private static final long BLOCK_BYTES = 256 << 10;

  private final LongAdder reads = new LongAdder();
  private final LongAdder blocks = new LongAdder();
  private final LongAdder listings = new LongAdder();
  private final LongAdder headChanges = new LongAdder();
  private final LongAdder recordReads = new LongAdder();
  private final LongAdder recordChanges = new LongAdder();
  private final LongAdder inboxReads = new LongAdder();

  /**
   * Calls so far.
   *
   * @param groups group commits
   * @param entries entries in them
   * @param bytes of the entries
   * @param appendNanos how long the group commits took
   * @param reads of journals
   * @param blocks what these read, in blocks of 256 KiB, each of them one at least
   * @param listings of shards
   * @param headChanges shards made, claimed, released and so on; not appends
   * @param recordReads of records, one by one or in lists
   * @param recordChanges of records, heartbeats among them
   * @param inboxReads looks for jobs that transactions of users have written
   */
  record Calls(
      long groups,
      long entries,
      long bytes,
      long appendNanos,
      long reads,
      long blocks,
      long listings,
      long headChanges,
      long recordReads,
      long recordChanges,
      long inboxReads) {
    Calls since(Calls before) {
      return new Calls(
          groups - before.groups,
          entries - before.entries,
          bytes - before.bytes,
          appendNanos - before.appendNanos,
          reads - before.reads,
          blocks - before.blocks,
          listings - before.listings,
          headChanges - before.headChanges,
          recordReads - before.recordReads,
          recordChanges - before.recordChanges,
          inboxReads - before.inboxReads);
    }
  }

  CountedStore(Store store) {
    super(store);
  }

  Calls calls() {
    return new Calls(
        groups.sum(),
        entries.sum(),
        bytes.sum(),
        appendNanos.sum(),
        reads.sum(),
        blocks.sum(),
        listings.sum(),
        headChanges.sum(),
        recordReads.sum(),
        recordChanges.sum(),
        inboxReads.sum());
  }

  @Override
  protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
    count(operation, 1);
    Outcome<T> outcome = next.get();
    if (operation == Operation.READ) {
      long size = 0;
      if (outcome instanceof Outcome.Ok<T>(ReadPage page)) {
        size = page.entries().stream().mapToLong(entry -> entry.data().length).sum();
      }
      blocks.add(Math.max(1, (size + BLOCK_BYTES - 1) / BLOCK_BYTES));
    }
    return outcome;
  }

  @Override
  protected <T> List<Outcome<T>> aroundAll(
      Operation operation, int size, Supplier<List<Outcome<T>>> next) {
    count(operation, size);
    return next.get();
  }

  private void count(Operation operation, int times) {
    switch (operation) {
      case READ -> reads.increment();
      case LIST_BY_WAKE, LIST_BY_ID -> listings.increment();
      case CREATE, CLAIM, LOWER_WAKE, SEAL, RELEASE, PUBLISH, DROP_GENERATIONS, DROP ->
          headChanges.add(times);
      case RECORDS_GET, RECORDS_LIST -> recordReads.increment();
      case RECORDS_APPLY, RECORDS_RESOLVE -> recordChanges.add(times);
      case APPEND, RESOLVE, STAGE, HEAD -> {}
    }
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    return appended(group, () -> super.append(group, allOrNothing));
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, List<Rider> riders, boolean allOrNothing) {
    return appended(group, () -> super.append(group, riders, allOrNothing));
  }

  @Override
  public Outcome<List<Row>> take(long taker, LongPredicate free, int maxRows, long maxBytes) {
    inboxReads.increment();
    return store().transactions().take(taker, free, maxRows, maxBytes);
  }

  @Override
  public Outcome<Optional<Row>> find(String ticket) {
    inboxReads.increment();
    return store().transactions().find(ticket);
  }

  @Override
  public Outcome<List<Settled>> settle(List<Place> jobs) {
    return store().transactions().settle(jobs);
  }

  private List<Outcome<Long>> appended(List<Append> group, Supplier<List<Outcome<Long>>> call) {
    groups.increment();
    entries.add(group.size());
    for (Append append : group) {
      bytes.add(append.data().length);
    }
    long start = System.nanoTime();
    try {
      return call.get();
    } finally {
      appendNanos.add(System.nanoTime() - start);
    }
  }
}
