package dev.carillon.store;

import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A store that keeps its data in another format than its callers use. It translates every call and
 * answer on the thread of the caller, and has no state.
 */
public final class TranslatedStore extends ForwardingStore {
  private final Translation translation;

  /** What is durable. */
  public enum Part {
    /** The data of an entry. */
    ENTRY,
    /** Of a shard, in its head. */
    SUMMARY,
    /** The value of a record, and the outcome of a completion. */
    RECORD,
    /** What a user's transaction wrote. */
    ROW
  }

  /** How things stand in the store; pure, and used by any thread. */
  public interface Translation {
    /** As it stands in the store. */
    byte[] written(Part part, byte[] bytes);

    /** As whoever asks has it. */
    byte[] read(Part part, byte[] bytes);

    /** Whether a record stands there in another way. */
    boolean concerns(String key);
  }

  /** The same store, translated. */
  public TranslatedStore(Store store, Translation translation) {
    super(store);
    this.translation = translation;
  }

  private Append written(Append append) {
    byte[] data = translation.written(Part.ENTRY, append.data());
    return new Append(
        append.shard(),
        append.epoch(),
        append.generation(),
        append.number(),
        append.batch(),
        data,
        append.raiseWakeMicros(),
        append.urgent());
  }

  private byte[] summary(byte[] summary) {
    return translation.written(Part.SUMMARY, summary);
  }

  private Change written(Change change) {
    byte[] value = change.value();
    return value == null || !translation.concerns(change.key())
        ? change
        : new Change(
            change.key(),
            change.expected(),
            translation.written(Part.RECORD, value),
            change.stamp());
  }

  private Stored read(Stored record) {
    return !translation.concerns(record.key())
        ? record
        : new Stored(record.key(), translation.read(Part.RECORD, record.value()), record.version());
  }

  private Head read(Head head) {
    return head.withSummary(translation.read(Part.SUMMARY, head.summary()));
  }

  private List<Head> readAll(List<Head> heads) {
    return heads.stream().map(this::read).toList();
  }

  private Row read(Row row) {
    return new Row(row.id(), row.ticket(), translation.read(Part.ROW, row.body()));
  }

  @Override
  public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
    return super.create(shard, home, wakeMicros, summary(summary)).map(this::read);
  }

  @Override
  public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    return super.claim(shard, expectedEpoch, owner)
        .map(claim -> new Claim(read(claim.head()), claim.tail()));
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    return super.append(group.stream().map(this::written).toList(), allOrNothing);
  }

  @Override
  public Outcome<Resolution> resolve(Append unknown) {
    return super.resolve(written(unknown));
  }

  @Override
  public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    return super.lowerWake(shard, epoch, wakeMicros).map(this::read);
  }

  @Override
  public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
    return super.seal(shard, epoch, summary(summary)).map(this::read);
  }

  @Override
  public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
    return super.release(shard, epoch, expectedTail, summary(summary)).map(this::read);
  }

  @Override
  public List<Outcome<Head>> releaseAll(List<Release> releases) {
    return super.releaseAll(
            releases.stream()
                .map(
                    one ->
                        new Release(
                            one.shard(), one.epoch(), one.expectedTail(), summary(one.summary())))
                .toList())
        .stream()
        .map(outcome -> outcome.map(this::read))
        .toList();
  }

  @Override
  public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
    return super.read(shard, generation, from, maxBytes)
        .map(
            page ->
                new ReadPage(page.entries().stream().map(this::read).toList(), page.complete()));
  }

  private Entry read(Entry entry) {
    return new Entry(
        entry.number(), entry.epoch(), entry.batch(), translation.read(Part.ENTRY, entry.data()));
  }

  @Override
  public Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    return super.stage(
        shard, epoch, generation, snapshot, number, translation.written(Part.ENTRY, data));
  }

  @Override
  public Outcome<Head> publish(Publication publication) {
    return super.publish(
            new Publication(
                publication.shard(),
                publication.epoch(),
                publication.generation(),
                publication.expectedTail(),
                publication.snapshot(),
                publication.count(),
                publication.wakeMicros(),
                summary(publication.summary())))
        .map(this::read);
  }

  @Override
  public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    return super.dropGenerations(shard, epoch, oldest).map(this::read);
  }

  @Override
  public Outcome<Head> head(ShardId shard) {
    return super.head(shard).map(this::read);
  }

  @Override
  public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
    return super.listByWake(beforeMicros, after, limit).map(this::readAll);
  }

  @Override
  public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    return super.listById(after, limit).map(this::readAll);
  }

  @Override
  public Outcome<Optional<Stored>> get(String key) {
    return super.get(key).map(found -> found.map(this::read));
  }

  @Override
  public List<Outcome<Stamp>> apply(List<Change> changes) {
    return super.apply(changes.stream().map(this::written).toList());
  }

  @Override
  public Outcome<Boolean> resolve(Change unknown) {
    return super.resolve(written(unknown));
  }

  @Override
  public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
    return super.list(prefix, afterKey, limit)
        .map(found -> found.stream().map(this::read).toList());
  }

  @Override
  public void write(Connection connection, List<Draft> drafts) {
    super.write(
        connection,
        drafts.stream()
            .map(draft -> new Draft(draft.ticket(), translation.written(Part.ROW, draft.body())))
            .toList());
  }

  @Override
  public Answer complete(Connection connection, Completion completion, @Nullable Permit permit) {
    return super.complete(
        connection,
        new Completion(
            completion.place(),
            completion.epoch(),
            completion.nonce(),
            translation.written(Part.RECORD, completion.outcome())),
        permit);
  }

  @Override
  public Outcome<List<Row>> take(long taker, LongPredicate free, int maxRows, long maxBytes) {
    return super.take(taker, free, maxRows, maxBytes)
        .map(rows -> rows.stream().map(this::read).toList());
  }

  @Override
  public Outcome<Optional<Row>> find(String ticket) {
    return super.find(ticket).map(row -> row.map(this::read));
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, List<Rider> riders, boolean allOrNothing) {
    return super.append(
        group.stream().map(this::written).toList(),
        riders.stream().map(this::written).toList(),
        allOrNothing);
  }

  private Rider written(Rider rider) {
    return new Rider(
        rider.rows(), rider.pointers().stream().map(this::written).toList(), rider.done());
  }

  @Override
  public Outcome<List<Settled>> settle(List<Place> jobs) {
    return super.settle(jobs).map(settled -> settled.stream().map(this::read).toList());
  }

  private Settled read(Settled settled) {
    Completion completion = settled.completion();
    return completion == null
        ? settled
        : new Settled(
            new Completion(
                completion.place(),
                completion.epoch(),
                completion.nonce(),
                translation.read(Part.RECORD, completion.outcome())),
            settled.open());
  }
}
