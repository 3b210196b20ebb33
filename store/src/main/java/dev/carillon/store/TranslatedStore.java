package dev.carillon.store;

import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A store in which things stand in another way than they are handed to it and got from it. Has no
 * state and translates on the thread that calls.
 */
public final class TranslatedStore implements Store {
  private final Store store;
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
    this.store = store;
    this.translation = translation;
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
  public Outcome<Long> clockMicros() {
    return store.clockMicros();
  }

  @Override
  public void adopt(String incarnation) {
    store.adopt(incarnation);
  }

  @Override
  public Journals journals() {
    return new TranslatedJournals(store.journals());
  }

  @Override
  public Records records() {
    return new TranslatedRecords(store.records());
  }

  @Override
  public Doorbells doorbells() {
    return store.doorbells();
  }

  @Override
  public Transactions transactions() {
    return new TranslatedTransactions(store.transactions());
  }

  @Override
  public void close() {
    store.close();
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

  private Records.Change written(Records.Change change) {
    byte[] value = change.value();
    return value == null || !translation.concerns(change.key())
        ? change
        : new Records.Change(
            change.key(),
            change.expected(),
            translation.written(Part.RECORD, value),
            change.stamp());
  }

  private Records.Stored read(Records.Stored record) {
    return !translation.concerns(record.key())
        ? record
        : new Records.Stored(
            record.key(), translation.read(Part.RECORD, record.value()), record.version());
  }

  private Head read(Head head) {
    return new Head(
        head.shard(),
        head.epoch(),
        head.owner(),
        head.suspect(),
        head.status(),
        head.generation(),
        head.oldestGeneration(),
        head.wakeMicros(),
        head.home(),
        translation.read(Part.SUMMARY, head.summary()));
  }

  private List<Head> readAll(List<Head> heads) {
    return heads.stream().map(this::read).toList();
  }

  private Transactions.Row read(Transactions.Row row) {
    return new Transactions.Row(row.id(), row.ticket(), translation.read(Part.ROW, row.body()));
  }

  private final class TranslatedJournals implements Journals {
    private final Journals journals;

    TranslatedJournals(Journals journals) {
      this.journals = journals;
    }

    @Override
    public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
      return journals
          .create(shard, home, wakeMicros, summary(summary))
          .map(TranslatedStore.this::read);
    }

    @Override
    public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
      return journals
          .claim(shard, expectedEpoch, owner)
          .map(claim -> new Claim(TranslatedStore.this.read(claim.head()), claim.tail()));
    }

    @Override
    public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
      return journals.append(
          group.stream().map(TranslatedStore.this::written).toList(), allOrNothing);
    }

    @Override
    public Outcome<Resolution> resolve(Append unknown) {
      return journals.resolve(written(unknown));
    }

    @Override
    public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
      return journals.lowerWake(shard, epoch, wakeMicros).map(TranslatedStore.this::read);
    }

    @Override
    public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
      return journals.seal(shard, epoch, summary(summary)).map(TranslatedStore.this::read);
    }

    @Override
    public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
      return journals
          .release(shard, epoch, expectedTail, summary(summary))
          .map(TranslatedStore.this::read);
    }

    @Override
    public List<Outcome<Head>> releaseAll(List<Release> releases) {
      return journals
          .releaseAll(
              releases.stream()
                  .map(
                      one ->
                          new Release(
                              one.shard(), one.epoch(), one.expectedTail(), summary(one.summary())))
                  .toList())
          .stream()
          .map(outcome -> outcome.map(TranslatedStore.this::read))
          .toList();
    }

    @Override
    public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
      return journals
          .read(shard, generation, from, maxBytes)
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
      return journals.stage(
          shard, epoch, generation, snapshot, number, translation.written(Part.ENTRY, data));
    }

    @Override
    public Outcome<Head> publish(Publication publication) {
      return journals
          .publish(
              new Publication(
                  publication.shard(),
                  publication.epoch(),
                  publication.generation(),
                  publication.expectedTail(),
                  publication.snapshot(),
                  publication.count(),
                  publication.wakeMicros(),
                  summary(publication.summary())))
          .map(TranslatedStore.this::read);
    }

    @Override
    public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
      return journals.dropGenerations(shard, epoch, oldest).map(TranslatedStore.this::read);
    }

    @Override
    public Outcome<Boolean> drop(ShardId shard, long epoch) {
      return journals.drop(shard, epoch);
    }

    @Override
    public Outcome<Head> head(ShardId shard) {
      return journals.head(shard).map(TranslatedStore.this::read);
    }

    @Override
    public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
      return journals.listByWake(beforeMicros, after, limit).map(TranslatedStore.this::readAll);
    }

    @Override
    public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
      return journals.listById(after, limit).map(TranslatedStore.this::readAll);
    }
  }

  private final class TranslatedRecords implements Records {
    private final Records records;

    TranslatedRecords(Records records) {
      this.records = records;
    }

    @Override
    public Outcome<Optional<Stored>> get(String key) {
      return records.get(key).map(found -> found.map(TranslatedStore.this::read));
    }

    @Override
    public List<Outcome<Stamp>> apply(List<Change> changes) {
      return records.apply(changes.stream().map(TranslatedStore.this::written).toList());
    }

    @Override
    public Outcome<Boolean> resolve(Change unknown) {
      return records.resolve(written(unknown));
    }

    @Override
    public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
      return records
          .list(prefix, afterKey, limit)
          .map(found -> found.stream().map(TranslatedStore.this::read).toList());
    }
  }

  private final class TranslatedTransactions implements Transactions {
    private final Transactions transactions;

    TranslatedTransactions(Transactions transactions) {
      this.transactions = transactions;
    }

    @Override
    public void write(Connection connection, List<Draft> drafts) {
      transactions.write(
          connection,
          drafts.stream()
              .map(draft -> new Draft(draft.ticket(), translation.written(Part.ROW, draft.body())))
              .toList());
    }

    @Override
    public Answer complete(Connection connection, Completion completion, @Nullable Permit permit) {
      return transactions.complete(
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
      return transactions
          .take(taker, free, maxRows, maxBytes)
          .map(rows -> rows.stream().map(TranslatedStore.this::read).toList());
    }

    @Override
    public Outcome<Optional<Row>> find(String ticket) {
      return transactions.find(ticket).map(row -> row.map(TranslatedStore.this::read));
    }

    @Override
    public List<Outcome<Long>> append(
        List<Append> group, List<Rider> riders, boolean allOrNothing) {
      return transactions.append(
          group.stream().map(TranslatedStore.this::written).toList(),
          riders.stream().map(this::written).toList(),
          allOrNothing);
    }

    private Rider written(Rider rider) {
      return new Rider(
          rider.rows(),
          rider.pointers().stream().map(TranslatedStore.this::written).toList(),
          rider.done());
    }

    @Override
    public Outcome<List<Settled>> settle(List<Place> jobs) {
      return transactions.settle(jobs).map(settled -> settled.stream().map(this::read).toList());
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
}
