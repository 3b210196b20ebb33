package dev.carillon;

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
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store of which nothing is thrown: what one throws against its contract is reported and becomes
 * an outcome, unknown for writes and unavailable for reads. Also remembers how the last write and
 * the last read went, for {@link Carillon#health()}, and whether the store is away.
 */
final class GuardedStore implements Store {
  private final Store store;
  private final Reports reports;
  private final StoreWatch watch;
  private final Journals journals;
  private final Records records;
  private final StorePresence presence = new StorePresence();
  private volatile @Nullable String writeProblem;
  private volatile @Nullable String readProblem;

  GuardedStore(Store store, Reports reports, StoreWatch watch) {
    this.store = store;
    this.reports = reports;
    this.watch = watch;
    this.journals = new GuardedJournals(store.journals());
    this.records = new GuardedRecords(store.records());
  }

  /** What was wrong with the last write or read, or null if both went well. */
  @Nullable String problem() {
    String write = writeProblem;
    return write != null ? write : readProblem;
  }

  /** Whether the store is known to be away. */
  StorePresence presence() {
    return presence;
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
    return read(store::clockMicros);
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
  public Doorbells doorbells() {
    return store.doorbells();
  }

  @Override
  public Transactions transactions() {
    return new GuardedTransactions(store.transactions());
  }

  @Override
  public void close() {
    store.close();
  }

  private <T> Outcome<T> write(Supplier<Outcome<T>> call) {
    Outcome<T> outcome;
    try {
      outcome = call.get();
    } catch (Throwable e) {
      outcome = new Outcome.Unknown<>(thrown(e));
    }
    String problem = problemOf(outcome);
    writeProblem = problem;
    note(problem, outcome instanceof Outcome.Full);
    watch.saw(problem());
    return outcome;
  }

  private void note(@Nullable String problem, boolean isThere) {
    if (problem == null || isThere) {
      presence.isThere();
    } else {
      presence.failed(problem);
    }
  }

  private <T> List<Outcome<T>> writeAll(int size, Supplier<List<Outcome<T>>> call) {
    List<Outcome<T>> outcomes;
    try {
      outcomes = call.get();
    } catch (Throwable e) {
      outcomes = Collections.nCopies(size, new Outcome.Unknown<>(thrown(e)));
    }
    String problem = null;
    boolean isThere = false;
    for (Outcome<T> outcome : outcomes) {
      String found = outcome.isOk() ? null : problemOf(outcome);
      problem = found != null ? found : problem;
      isThere |= found == null || outcome instanceof Outcome.Full;
    }
    writeProblem = problem;
    note(problem, isThere);
    watch.saw(problem());
    return outcomes;
  }

  private <T> Outcome<T> read(Supplier<Outcome<T>> call) {
    Outcome<T> outcome;
    try {
      outcome = call.get();
    } catch (Throwable e) {
      outcome = new Outcome.Unavailable<>(thrown(e));
    }
    readProblem = problemOf(outcome);
    watch.saw(problem());
    return outcome;
  }

  private String thrown(Throwable e) {
    reports.report("the store threw against its contract", e);
    return "thrown by the store: " + e;
  }

  private static @Nullable String problemOf(Outcome<?> outcome) {
    return switch (outcome) {
      case Outcome.Full<?>(String detail) -> "full: " + detail;
      case Outcome.Unavailable<?>(String detail) -> "unavailable: " + detail;
      case Outcome.Unknown<?>(String detail) -> "no answer: " + detail;
      default -> null;
    };
  }

  private final class GuardedJournals implements Journals {
    private final Journals inner;

    GuardedJournals(Journals inner) {
      this.inner = inner;
    }

    @Override
    public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
      return write(() -> inner.create(shard, home, wakeMicros, summary));
    }

    @Override
    public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
      return write(() -> inner.claim(shard, expectedEpoch, owner));
    }

    @Override
    public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
      return writeAll(group.size(), () -> inner.append(group, allOrNothing));
    }

    @Override
    public Outcome<Resolution> resolve(Append unknown) {
      return write(() -> inner.resolve(unknown));
    }

    @Override
    public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
      return write(() -> inner.lowerWake(shard, epoch, wakeMicros));
    }

    @Override
    public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
      return write(() -> inner.seal(shard, epoch, summary));
    }

    @Override
    public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
      return write(() -> inner.release(shard, epoch, expectedTail, summary));
    }

    @Override
    public List<Outcome<Head>> releaseAll(List<Release> releases) {
      return writeAll(releases.size(), () -> inner.releaseAll(releases));
    }

    @Override
    public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
      return GuardedStore.this.read(() -> inner.read(shard, generation, from, maxBytes));
    }

    @Override
    public Outcome<Long> stage(
        ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
      return write(() -> inner.stage(shard, epoch, generation, snapshot, number, data));
    }

    @Override
    public Outcome<Head> publish(Publication publication) {
      return write(() -> inner.publish(publication));
    }

    @Override
    public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
      return write(() -> inner.dropGenerations(shard, epoch, oldest));
    }

    @Override
    public Outcome<Boolean> drop(ShardId shard, long epoch) {
      return write(() -> inner.drop(shard, epoch));
    }

    @Override
    public Outcome<Head> head(ShardId shard) {
      return GuardedStore.this.read(() -> inner.head(shard));
    }

    @Override
    public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
      return GuardedStore.this.read(() -> inner.listByWake(beforeMicros, after, limit));
    }

    @Override
    public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
      return GuardedStore.this.read(() -> inner.listById(after, limit));
    }
  }

  private final class GuardedRecords implements Records {
    private final Records inner;

    GuardedRecords(Records inner) {
      this.inner = inner;
    }

    @Override
    public Outcome<Optional<Stored>> get(String key) {
      return read(() -> inner.get(key));
    }

    @Override
    public List<Outcome<Stamp>> apply(List<Change> changes) {
      return writeAll(changes.size(), () -> inner.apply(changes));
    }

    @Override
    public Outcome<Boolean> resolve(Change unknown) {
      return write(() -> inner.resolve(unknown));
    }

    @Override
    public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
      return read(() -> inner.list(prefix, afterKey, limit));
    }
  }

  /** In users' transactions what is thrown is theirs to see. */
  private final class GuardedTransactions implements Transactions {
    private final Transactions inner;

    GuardedTransactions(Transactions inner) {
      this.inner = inner;
    }

    @Override
    public void write(Connection connection, List<Draft> drafts) {
      inner.write(connection, drafts);
    }

    @Override
    public Answer complete(Connection connection, Completion completion, @Nullable Permit permit) {
      return inner.complete(connection, completion, permit);
    }

    @Override
    public Outcome<List<Row>> take(long taker, LongPredicate free, int maxRows, long maxBytes) {
      return GuardedStore.this.write(() -> inner.take(taker, free, maxRows, maxBytes));
    }

    @Override
    public Outcome<Optional<Row>> find(String ticket) {
      return read(() -> inner.find(ticket));
    }

    @Override
    public List<Outcome<Long>> append(
        List<Append> group, List<Rider> riders, boolean allOrNothing) {
      return writeAll(group.size(), () -> inner.append(group, riders, allOrNothing));
    }

    @Override
    public Outcome<List<Settled>> settle(List<Place> jobs) {
      return read(() -> inner.settle(jobs));
    }
  }
}
