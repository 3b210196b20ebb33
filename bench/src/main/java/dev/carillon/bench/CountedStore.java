package dev.carillon.bench;

import dev.carillon.store.Append;
import dev.carillon.store.Doorbells;
import dev.carillon.store.Head;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.Transactions;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts the calls that a store gets and passes them on. */
final class CountedStore implements Store {
  private final Store store;
  private final Journals journals;
  private final Records records;
  private final LongAdder groups = new LongAdder();
  private final LongAdder entries = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder appendNanos = new LongAdder();
  private final LongAdder reads = new LongAdder();
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
   * @param listings of shards
   * @param headChanges shards made, claimed, released and so on; not appends
   * @param recordReads of records, one by one or in lists
   * @param recordChanges of records, beats among them
   * @param inboxReads looks for jobs that transactions of users have written
   */
  record Calls(
      long groups,
      long entries,
      long bytes,
      long appendNanos,
      long reads,
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
          listings - before.listings,
          headChanges - before.headChanges,
          recordReads - before.recordReads,
          recordChanges - before.recordChanges,
          inboxReads - before.inboxReads);
    }
  }

  CountedStore(Store store) {
    this.store = store;
    this.journals = new CountedJournals(store.journals());
    this.records = new CountedRecords(store.records());
  }

  Calls calls() {
    return new Calls(
        groups.sum(),
        entries.sum(),
        bytes.sum(),
        appendNanos.sum(),
        reads.sum(),
        listings.sum(),
        headChanges.sum(),
        recordReads.sum(),
        recordChanges.sum(),
        inboxReads.sum());
  }

  @Override
  public StoreInfo info() {
    return store.info();
  }

  @Override
  public String incarnation() {
    return store.incarnation();
  }

  @Override
  public void adopt(String incarnation) {
    store.adopt(incarnation);
  }

  @Override
  public Outcome<Long> clockMicros() {
    return store.clockMicros();
  }

  @Override
  public Journals journals() {
    return journals;
  }

  @Override
  public Records records() {
    return records;
  }

  @Override
  public Transactions transactions() {
    return new CountedTransactions(store.transactions());
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

  @Override
  public Doorbells doorbells() {
    return store.doorbells();
  }

  @Override
  public void close() {
    store.close();
  }

  private final class CountedJournals implements Journals {
    private final Journals journals;

    CountedJournals(Journals journals) {
      this.journals = journals;
    }

    @Override
    public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
      return appended(group, () -> journals.append(group, allOrNothing));
    }

    @Override
    public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
      reads.increment();
      return journals.read(shard, generation, from, maxBytes);
    }

    @Override
    public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
      listings.increment();
      return journals.listByWake(beforeMicros, after, limit);
    }

    @Override
    public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
      listings.increment();
      return journals.listById(after, limit);
    }

    @Override
    public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
      headChanges.increment();
      return journals.create(shard, home, wakeMicros, summary);
    }

    @Override
    public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
      headChanges.increment();
      return journals.claim(shard, expectedEpoch, owner);
    }

    @Override
    public Outcome<Resolution> resolve(Append unknown) {
      return journals.resolve(unknown);
    }

    @Override
    public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
      headChanges.increment();
      return journals.lowerWake(shard, epoch, wakeMicros);
    }

    @Override
    public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
      headChanges.increment();
      return journals.seal(shard, epoch, summary);
    }

    @Override
    public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
      headChanges.increment();
      return journals.release(shard, epoch, expectedTail, summary);
    }

    @Override
    public Outcome<Long> stage(
        ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
      return journals.stage(shard, epoch, generation, snapshot, number, data);
    }

    @Override
    public Outcome<Head> publish(Publication publication) {
      headChanges.increment();
      return journals.publish(publication);
    }

    @Override
    public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
      headChanges.increment();
      return journals.dropGenerations(shard, epoch, oldest);
    }

    @Override
    public Outcome<Boolean> drop(ShardId shard, long epoch) {
      headChanges.increment();
      return journals.drop(shard, epoch);
    }

    @Override
    public Outcome<Head> head(ShardId shard) {
      return journals.head(shard);
    }
  }

  private final class CountedRecords implements Records {
    private final Records records;

    CountedRecords(Records records) {
      this.records = records;
    }

    @Override
    public Outcome<Optional<Stored>> get(String key) {
      recordReads.increment();
      return records.get(key);
    }

    @Override
    public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
      recordReads.increment();
      return records.list(prefix, afterKey, limit);
    }

    @Override
    public List<Outcome<Stamp>> apply(List<Change> changes) {
      recordChanges.add(changes.size());
      return records.apply(changes);
    }

    @Override
    public Outcome<Boolean> resolve(Change unknown) {
      recordChanges.increment();
      return records.resolve(unknown);
    }
  }

  private final class CountedTransactions implements Transactions {
    private final Transactions transactions;

    CountedTransactions(Transactions transactions) {
      this.transactions = transactions;
    }

    @Override
    public void write(Connection connection, List<Draft> drafts) {
      transactions.write(connection, drafts);
    }

    @Override
    public Answer complete(Connection connection, Completion completion, @Nullable Permit permit) {
      return transactions.complete(connection, completion, permit);
    }

    @Override
    public Outcome<List<Row>> take(long taker, LongPredicate free, int maxRows, long maxBytes) {
      inboxReads.increment();
      return transactions.take(taker, free, maxRows, maxBytes);
    }

    @Override
    public Outcome<Optional<Row>> find(String ticket) {
      inboxReads.increment();
      return transactions.find(ticket);
    }

    @Override
    public List<Outcome<Long>> append(
        List<Append> group, List<Rider> riders, boolean allOrNothing) {
      return appended(group, () -> transactions.append(group, riders, allOrNothing));
    }

    @Override
    public Outcome<List<Settled>> settle(List<Place> jobs) {
      return transactions.settle(jobs);
    }
  }
}
