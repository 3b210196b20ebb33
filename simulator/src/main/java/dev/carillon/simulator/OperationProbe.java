package dev.carillon.simulator;

import dev.carillon.store.Append;
import dev.carillon.store.FaultyStore.Operation;
import dev.carillon.store.Head;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A store that answers reads, refuses writes and remembers the first of each: it says what a piece
 * of work is.
 */
final class OperationProbe implements Store, Journals, Records {
  private final Store store;
  private @Nullable Operation firstRead;
  private @Nullable Operation firstWrite;

  /** Whether it appended to several journals together. */
  private boolean together;

  OperationProbe(Store store) {
    this.store = store;
  }

  /** The first write that was tried, or the first read; null where there was no call. */
  @Nullable Operation operation() {
    return firstWrite != null ? firstWrite : firstRead;
  }

  /** Whether it is something that happens seldom. */
  boolean isRare() {
    Operation operation = operation();
    return operation != null
        && switch (operation) {
          case STAGE, PUBLISH, DROP_GENERATIONS, LOWER_WAKE, RECORDS_RESOLVE, RESOLVE, DROP -> true;
          case APPEND -> together;
          default -> false;
        };
  }

  private <T> Outcome<T> saw(Operation operation) {
    if (firstWrite == null) {
      firstWrite = operation;
    }
    return new Outcome.Unavailable<>("a probe");
  }

  private void noteRead(Operation operation) {
    if (firstRead == null) {
      firstRead = operation;
    }
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
    return this;
  }

  @Override
  public Records records() {
    return this;
  }

  @Override
  public void close() {}

  @Override
  public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
    return saw(Operation.CREATE);
  }

  @Override
  public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    return saw(Operation.CLAIM);
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    together = allOrNothing && group.size() > 1;
    return Collections.nCopies(group.size(), saw(Operation.APPEND));
  }

  @Override
  public Outcome<Resolution> resolve(Append unknown) {
    return saw(Operation.RESOLVE);
  }

  @Override
  public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    return saw(Operation.LOWER_WAKE);
  }

  @Override
  public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
    return saw(Operation.SEAL);
  }

  @Override
  public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
    return saw(Operation.RELEASE);
  }

  @Override
  public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
    noteRead(Operation.READ);
    return store.journals().read(shard, generation, from, maxBytes);
  }

  @Override
  public Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    return saw(Operation.STAGE);
  }

  @Override
  public Outcome<Head> publish(Publication publication) {
    return saw(Operation.PUBLISH);
  }

  @Override
  public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    return saw(Operation.DROP_GENERATIONS);
  }

  @Override
  public Outcome<Boolean> drop(ShardId shard, long epoch) {
    return saw(Operation.DROP);
  }

  @Override
  public Outcome<Head> head(ShardId shard) {
    noteRead(Operation.HEAD);
    return store.journals().head(shard);
  }

  @Override
  public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
    noteRead(Operation.LIST_BY_WAKE);
    return store.journals().listByWake(beforeMicros, after, limit);
  }

  @Override
  public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    noteRead(Operation.LIST_BY_ID);
    return store.journals().listById(after, limit);
  }

  @Override
  public Outcome<Optional<Stored>> get(String key) {
    noteRead(Operation.RECORDS_GET);
    return store.records().get(key);
  }

  @Override
  public List<Outcome<Stamp>> apply(List<Change> changes) {
    return Collections.nCopies(changes.size(), saw(Operation.RECORDS_APPLY));
  }

  @Override
  public Outcome<Boolean> resolve(Change unknown) {
    return saw(Operation.RECORDS_RESOLVE);
  }

  @Override
  public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
    noteRead(Operation.RECORDS_LIST);
    return store.records().list(prefix, afterKey, limit);
  }
}
