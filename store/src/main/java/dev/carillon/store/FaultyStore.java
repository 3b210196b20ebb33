package dev.carillon.store;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toUnmodifiableSet;

import java.sql.Connection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that misbehaves on demand, in every way the contract allows and in no other. It wraps any
 * store; the conformance suite, the simulator and tests of real stores use the same class.
 *
 * <p>{@link Faults} decides the fate of each call. The wrapper has no clock, no randomness and no
 * thread of its own: the same calls and the same decisions give the same answers. Calls reported as
 * timed out before they were applied wait in it until {@link #deliverLate()}.
 *
 * <p>Thread-safe if the wrapped store and the decisions are.
 */
public final class FaultyStore implements Store {

  /** How many calls wait to be delivered late; one more is lost instead, which is legal as well. */
  public static final int MAX_LATE = 1_000;

  /** What becomes of a call. */
  public enum Fault {
    /** It passes. */
    NONE,
    /** {@link Outcome.Unavailable}; not applied. */
    FAIL_BEFORE,
    /** Applied, but answered {@link Outcome.Unknown}. */
    APPLY_THEN_TIMEOUT,
    /** Answered {@link Outcome.Unknown}, and applied by a later {@link #deliverLate()}. */
    TIMEOUT_THEN_APPLY,
    /** Passes after {@link Faults#slow}. */
    SLOW,
    /** {@link Outcome.Full}; not applied. */
    FULL
  }

  /** Every call of a store. */
  public enum Operation {
    CREATE("create", Kind.GROWING),
    CLAIM("claim", Kind.GROWING),
    APPEND("append", Kind.GROWING),
    RESOLVE("resolve", Kind.FREEING),
    LOWER_WAKE("lowerWake", Kind.GROWING),
    SEAL("seal", Kind.GROWING),
    RELEASE("release", Kind.FREEING),
    READ("read", Kind.READING),
    STAGE("stage", Kind.GROWING),
    PUBLISH("publish", Kind.GROWING),
    DROP_GENERATIONS("dropGenerations", Kind.FREEING),
    DROP("drop", Kind.FREEING),
    HEAD("head", Kind.READING),
    LIST_BY_WAKE("listByWake", Kind.READING),
    LIST_BY_ID("listById", Kind.READING),
    RECORDS_GET("records.get", Kind.READING),
    RECORDS_APPLY("records.apply", Kind.GROWING),
    RECORDS_RESOLVE("records.resolve", Kind.FREEING),
    RECORDS_LIST("records.list", Kind.READING);

    /** Freeing calls are needed to end things, so a full store takes them from its reserve. */
    private enum Kind {
      READING,
      FREEING,
      GROWING
    }

    private final String text;
    private final Kind kind;

    Operation(String text, Kind kind) {
      this.text = text;
      this.kind = kind;
    }

    /** The faults that may befall it; any other decision counts as {@link Fault#NONE}. */
    public Set<Fault> faults() {
      return switch (kind) {
        case READING -> OF_READS;
        case FREEING -> OF_FREEING;
        case GROWING -> ALL;
      };
    }

    /** Whether it changes nothing. */
    public boolean isRead() {
      return kind == Kind.READING;
    }

    /** The method's name, with {@code records.} before those of {@link Records}. */
    @Override
    public String toString() {
      return text;
    }
  }

  /** Decides what goes wrong. Asked once for each call, on the caller's thread. */
  @FunctionalInterface
  public interface Faults {

    /** The fate of the next call. */
    Fault next(Operation operation);

    /**
     * What {@link Fault#SLOW} means: returns when the call may go on. Virtual time passes in a
     * simulator, a latch opens in a test. Nothing by default.
     */
    default void slow(Operation operation) {}
  }

  private static final String BEFORE = "fault: failed before it was applied";
  private static final String TIMEOUT = "fault: timed out";
  private static final String NO_ROOM = "fault: no room";

  private static final Set<Fault> OF_READS = Set.of(Fault.NONE, Fault.FAIL_BEFORE, Fault.SLOW);
  private static final Set<Fault> ALL = Set.of(Fault.values());
  private static final Set<Fault> OF_FREEING =
      ALL.stream().filter(fault -> fault != Fault.FULL).collect(toUnmodifiableSet());

  private final Store store;
  private final Faults faults;
  private final Queue<Supplier<?>> late = new ArrayDeque<>();
  private final Map<Operation, Map<Fault, LongAdder>> counts = new EnumMap<>(Operation.class);
  private final Journals journals;
  private final Records records;

  /** Wraps {@code store}. */
  public FaultyStore(Store store, Faults faults) {
    this.store = store;
    this.faults = faults;
    this.journals = new FaultyJournals(store.journals());
    this.records = new FaultyRecords(store.records());
    for (Operation operation : Operation.values()) {
      Map<Fault, LongAdder> ofOperation = new EnumMap<>(Fault.class);
      for (Fault fault : Fault.values()) {
        ofOperation.put(fault, new LongAdder());
      }
      counts.put(operation, ofOperation);
    }
  }

  /** Applies the calls that were reported as timed out, in their order; returns how many. */
  public int deliverLate() {
    int delivered = 0;
    while (deliverNextLate()) {
      delivered++;
    }
    return delivered;
  }

  /** Applies the oldest of those calls, if any is left. */
  public boolean deliverNextLate() {
    Supplier<?> next;
    synchronized (late) {
      next = late.poll();
    }
    if (next == null) {
      return false;
    }
    var unused = next.get();
    return true;
  }

  /** How many calls wait to be delivered late. */
  public int lateCount() {
    synchronized (late) {
      return late.size();
    }
  }

  /** How often {@code fault} befell {@code operation}; with {@link Fault#NONE}, nothing did. */
  public long count(Operation operation, Fault fault) {
    return counter(operation, fault).sum();
  }

  private LongAdder counter(Operation operation, Fault fault) {
    return requireNonNull(requireNonNull(counts.get(operation)).get(fault));
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

  /** Always as it is: no fault of a call, and no promise rests on it. */
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

  /** Those of the wrapped store: a ring promises nothing that a fault could take away. */
  @Override
  public Doorbells doorbells() {
    return store.doorbells();
  }

  /**
   * Those of the wrapped store. Calls in users' transactions are theirs and meet no fault; of the
   * others each meets, and counts as, the fault of the call that it is most like.
   */
  @Override
  public Transactions transactions() {
    return new FaultyTransactions(store.transactions());
  }

  /** Closes the wrapped store; calls still waiting are lost. */
  @Override
  public void close() {
    synchronized (late) {
      late.clear();
    }
    store.close();
  }

  private Fault decide(Operation operation, boolean mayBeFull) {
    Fault decided = faults.next(operation);
    boolean possible =
        decided == Fault.NONE
            || (operation.faults().contains(decided) && (mayBeFull || decided != Fault.FULL));
    Fault fault = possible ? decided : Fault.NONE;
    counter(operation, fault).increment();
    return fault;
  }

  private <T> Outcome<T> call(Operation operation, Supplier<Outcome<T>> call) {
    return perform(operation, decide(operation, true), call);
  }

  private <T> Outcome<T> perform(Operation operation, Fault fault, Supplier<Outcome<T>> call) {
    return switch (fault) {
      case NONE -> call.get();
      case SLOW -> {
        faults.slow(operation);
        yield call.get();
      }
      case FAIL_BEFORE -> new Outcome.Unavailable<>(BEFORE);
      case FULL -> new Outcome.Full<>(NO_ROOM);
      case APPLY_THEN_TIMEOUT -> {
        var unused = call.get();
        yield new Outcome.Unknown<>(TIMEOUT);
      }
      case TIMEOUT_THEN_APPLY -> {
        keep(call);
        yield new Outcome.Unknown<>(TIMEOUT);
      }
    };
  }

  private void keep(Supplier<?> call) {
    synchronized (late) {
      if (late.size() < MAX_LATE) {
        late.add(call);
      }
    }
  }

  /** A call with an outcome for each of {@code size} parts, which a fault hits together. */
  private <T> List<Outcome<T>> performAll(
      Operation operation, Fault fault, int size, Supplier<List<Outcome<T>>> call) {
    Outcome<List<Outcome<T>>> whole = perform(operation, fault, () -> Outcome.ok(call.get()));
    if (whole instanceof Outcome.Ok<List<Outcome<T>>> ok) {
      return ok.value();
    }
    // Not ok, so that nothing is mapped but its type.
    Outcome<T> part = whole.map(parts -> parts.getFirst().orThrow());
    return Collections.nCopies(size, part);
  }

  private final class FaultyJournals implements Journals {

    private final Journals journals;

    FaultyJournals(Journals journals) {
      this.journals = journals;
    }

    @Override
    public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
      return call(Operation.CREATE, () -> journals.create(shard, home, wakeMicros, summary));
    }

    @Override
    public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
      return call(Operation.CLAIM, () -> journals.claim(shard, expectedEpoch, owner));
    }

    @Override
    public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
      List<Append> kept = List.copyOf(group);
      Fault fault = decide(Operation.APPEND, kept.stream().anyMatch(append -> !append.urgent()));
      if (fault == Fault.FULL) {
        return appendToFull(kept, allOrNothing);
      }
      return performAll(
          Operation.APPEND, fault, kept.size(), () -> journals.append(kept, allOrNothing));
    }

    /** Urgent appends go in from the reserve, unless the group stands or falls together. */
    private List<Outcome<Long>> appendToFull(List<Append> group, boolean allOrNothing) {
      List<Append> urgent =
          allOrNothing ? List.of() : group.stream().filter(Append::urgent).toList();
      var answers =
          (urgent.isEmpty() ? List.<Outcome<Long>>of() : journals.append(urgent, false)).iterator();
      List<Outcome<Long>> outcomes = new ArrayList<>(group.size());
      for (Append append : group) {
        if (!append.urgent()) {
          outcomes.add(new Outcome.Full<>(NO_ROOM));
        } else {
          outcomes.add(allOrNothing ? new Outcome.Unavailable<>(NO_ROOM) : answers.next());
        }
      }
      return outcomes;
    }

    @Override
    public Outcome<Resolution> resolve(Append unknown) {
      return call(Operation.RESOLVE, () -> journals.resolve(unknown));
    }

    @Override
    public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
      return call(Operation.LOWER_WAKE, () -> journals.lowerWake(shard, epoch, wakeMicros));
    }

    @Override
    public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
      return call(Operation.SEAL, () -> journals.seal(shard, epoch, summary));
    }

    @Override
    public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
      return call(Operation.RELEASE, () -> journals.release(shard, epoch, expectedTail, summary));
    }

    @Override
    public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
      return call(Operation.READ, () -> journals.read(shard, generation, from, maxBytes));
    }

    @Override
    public Outcome<Long> stage(
        ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
      return call(
          Operation.STAGE, () -> journals.stage(shard, epoch, generation, snapshot, number, data));
    }

    @Override
    public Outcome<Head> publish(Publication publication) {
      return call(Operation.PUBLISH, () -> journals.publish(publication));
    }

    @Override
    public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
      return call(Operation.DROP_GENERATIONS, () -> journals.dropGenerations(shard, epoch, oldest));
    }

    @Override
    public Outcome<Boolean> drop(ShardId shard, long epoch) {
      return call(Operation.DROP, () -> journals.drop(shard, epoch));
    }

    @Override
    public Outcome<Head> head(ShardId shard) {
      return call(Operation.HEAD, () -> journals.head(shard));
    }

    @Override
    public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
      return call(Operation.LIST_BY_WAKE, () -> journals.listByWake(beforeMicros, after, limit));
    }

    @Override
    public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
      return call(Operation.LIST_BY_ID, () -> journals.listById(after, limit));
    }
  }

  private final class FaultyRecords implements Records {

    private final Records records;

    FaultyRecords(Records records) {
      this.records = records;
    }

    @Override
    public Outcome<Optional<Stored>> get(String key) {
      return call(Operation.RECORDS_GET, () -> records.get(key));
    }

    @Override
    public List<Outcome<Stamp>> apply(List<Change> changes) {
      List<Change> kept = List.copyOf(changes);
      Fault fault =
          decide(Operation.RECORDS_APPLY, kept.stream().anyMatch(change -> change.value() != null));
      if (fault == Fault.FULL) {
        return applyToFull(kept);
      }
      return performAll(Operation.RECORDS_APPLY, fault, kept.size(), () -> records.apply(kept));
    }

    /** Deletes need no room. */
    private List<Outcome<Stamp>> applyToFull(List<Change> changes) {
      List<Change> deletes = changes.stream().filter(change -> change.value() == null).toList();
      var answers =
          (deletes.isEmpty() ? List.<Outcome<Stamp>>of() : records.apply(deletes)).iterator();
      List<Outcome<Stamp>> outcomes = new ArrayList<>(changes.size());
      for (Change change : changes) {
        outcomes.add(change.value() == null ? answers.next() : new Outcome.Full<>(NO_ROOM));
      }
      return outcomes;
    }

    @Override
    public Outcome<Boolean> resolve(Change unknown) {
      return call(Operation.RECORDS_RESOLVE, () -> records.resolve(unknown));
    }

    @Override
    public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
      return call(Operation.RECORDS_LIST, () -> records.list(prefix, afterKey, limit));
    }
  }

  private final class FaultyTransactions implements Transactions {

    private final Transactions transactions;

    FaultyTransactions(Transactions transactions) {
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
      return call(Operation.RECORDS_APPLY, () -> transactions.take(taker, free, maxRows, maxBytes));
    }

    @Override
    public Outcome<Optional<Row>> find(String ticket) {
      return call(Operation.RECORDS_GET, () -> transactions.find(ticket));
    }

    @Override
    public List<Outcome<Long>> append(
        List<Append> group, List<Rider> riders, boolean allOrNothing) {
      List<Append> kept = List.copyOf(group);
      List<Rider> along = List.copyOf(riders);
      Fault fault = decide(Operation.APPEND, kept.stream().noneMatch(Append::urgent));
      return performAll(
          Operation.APPEND,
          fault,
          kept.size(),
          () -> transactions.append(kept, along, allOrNothing));
    }

    @Override
    public Outcome<List<Settled>> settle(List<Place> jobs) {
      return call(Operation.RECORDS_GET, () -> transactions.settle(jobs));
    }
  }
}
