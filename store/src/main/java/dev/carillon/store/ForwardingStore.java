package dev.carillon.store;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A decorator of another store: it passes every call on. A subclass overrides {@link #around} and
 * {@link #aroundAll} to wrap all calls alike, or single methods where the arguments matter. It is a
 * base class because a wrapped call has type parameters, which no lambda can have.
 *
 * <p>The decorator is its own journals, records and transactions. It asks {@link #store} at each
 * call and keeps no part of the wrapped store, so that a subclass may exchange that.
 *
 * <p>It has no state of its own and is thread-safe if the wrapped store is.
 */
public abstract class ForwardingStore implements Store, Journals, Records, Transactions {
  private final Store store;

  /** A decorator of {@code store}. */
  protected ForwardingStore(Store store) {
    this.store = store;
  }

  /** Every call of {@link Journals} and {@link Records}. */
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

    /** Whether it changes nothing. */
    public boolean isRead() {
      return kind == Kind.READING;
    }

    /** Whether it needs room: a full store refuses it, and takes all others from its reserve. */
    public boolean needsRoom() {
      return kind == Kind.GROWING;
    }

    /** The method's name, with {@code records.} before those of {@link Records}. */
    @Override
    public String toString() {
      return text;
    }
  }

  /** The wrapped store. Every call asks for it anew. */
  protected Store store() {
    return store;
  }

  /**
   * Makes a call with one outcome. A node's call of {@link Transactions} comes as the operation
   * that it is most like: {@link #take} as {@link Operation#RECORDS_APPLY}, {@link #find} and
   * {@link #settle} as {@link Operation#RECORDS_GET}.
   *
   * @param next the call of the wrapped store
   */
  protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
    return next.get();
  }

  /**
   * Makes a call with an outcome for each of {@code size} parts: both kinds of append, a change of
   * records, or a release of several shards.
   *
   * @param next the call of the wrapped store
   */
  protected <T> List<Outcome<T>> aroundAll(
      Operation operation, int size, Supplier<List<Outcome<T>>> next) {
    return next.get();
  }

  @Override
  public StoreInfo info() {
    return store().info();
  }

  @Override
  public String incarnation() {
    return store().incarnation();
  }

  @Override
  public void adopt(String incarnation) {
    store().adopt(incarnation);
  }

  @Override
  public Outcome<Long> clockMicros() {
    return store().clockMicros();
  }

  @Override
  public Duration longestStatement() {
    return store().longestStatement();
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
  public Doorbells doorbells() {
    return store().doorbells();
  }

  @Override
  public Transactions transactions() {
    var unused = store().transactions(); // throws where there are none
    return this;
  }

  @Override
  public void close() {
    store().close();
  }

  @Override
  public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
    return around(
        Operation.CREATE, () -> store().journals().create(shard, home, wakeMicros, summary));
  }

  @Override
  public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    return around(Operation.CLAIM, () -> store().journals().claim(shard, expectedEpoch, owner));
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    return aroundAll(
        Operation.APPEND, group.size(), () -> store().journals().append(group, allOrNothing));
  }

  @Override
  public Outcome<Resolution> resolve(Append unknown) {
    return around(Operation.RESOLVE, () -> store().journals().resolve(unknown));
  }

  @Override
  public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    return around(
        Operation.LOWER_WAKE, () -> store().journals().lowerWake(shard, epoch, wakeMicros));
  }

  @Override
  public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
    return around(Operation.SEAL, () -> store().journals().seal(shard, epoch, summary));
  }

  @Override
  public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
    return around(
        Operation.RELEASE, () -> store().journals().release(shard, epoch, expectedTail, summary));
  }

  @Override
  public List<Outcome<Head>> releaseAll(List<Release> releases) {
    return aroundAll(
        Operation.RELEASE, releases.size(), () -> store().journals().releaseAll(releases));
  }

  /** {@link #releaseAll} as a call of {@link #release} for each. */
  protected final List<Outcome<Head>> releaseEach(List<Release> releases) {
    return Journals.super.releaseAll(releases);
  }

  @Override
  public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
    return around(Operation.READ, () -> store().journals().read(shard, generation, from, maxBytes));
  }

  @Override
  public Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    return around(
        Operation.STAGE,
        () -> store().journals().stage(shard, epoch, generation, snapshot, number, data));
  }

  @Override
  public Outcome<Head> publish(Publication publication) {
    return around(Operation.PUBLISH, () -> store().journals().publish(publication));
  }

  @Override
  public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    return around(
        Operation.DROP_GENERATIONS, () -> store().journals().dropGenerations(shard, epoch, oldest));
  }

  @Override
  public Outcome<Boolean> drop(ShardId shard, long epoch) {
    return around(Operation.DROP, () -> store().journals().drop(shard, epoch));
  }

  @Override
  public Outcome<Head> head(ShardId shard) {
    return around(Operation.HEAD, () -> store().journals().head(shard));
  }

  @Override
  public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
    return around(
        Operation.LIST_BY_WAKE, () -> store().journals().listByWake(beforeMicros, after, limit));
  }

  @Override
  public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    return around(Operation.LIST_BY_ID, () -> store().journals().listById(after, limit));
  }

  @Override
  public Outcome<Optional<Stored>> get(String key) {
    return around(Operation.RECORDS_GET, () -> store().records().get(key));
  }

  @Override
  public List<Outcome<Stamp>> apply(List<Change> changes) {
    return aroundAll(
        Operation.RECORDS_APPLY, changes.size(), () -> store().records().apply(changes));
  }

  @Override
  public Outcome<Boolean> resolve(Change unknown) {
    return around(Operation.RECORDS_RESOLVE, () -> store().records().resolve(unknown));
  }

  @Override
  public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
    return around(Operation.RECORDS_LIST, () -> store().records().list(prefix, afterKey, limit));
  }

  @Override
  public void write(Connection connection, List<Draft> drafts) {
    store().transactions().write(connection, drafts);
  }

  @Override
  public Answer complete(Connection connection, Completion completion, @Nullable Permit permit) {
    return store().transactions().complete(connection, completion, permit);
  }

  @Override
  public Outcome<List<Row>> take(long taker, LongPredicate free, int maxRows, long maxBytes) {
    return around(
        Operation.RECORDS_APPLY, () -> store().transactions().take(taker, free, maxRows, maxBytes));
  }

  @Override
  public Outcome<Optional<Row>> find(String ticket) {
    return around(Operation.RECORDS_GET, () -> store().transactions().find(ticket));
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, List<Rider> riders, boolean allOrNothing) {
    return aroundAll(
        Operation.APPEND,
        group.size(),
        () -> store().transactions().append(group, riders, allOrNothing));
  }

  @Override
  public Outcome<List<Settled>> settle(List<Place> jobs) {
    return around(Operation.RECORDS_GET, () -> store().transactions().settle(jobs));
  }
}
