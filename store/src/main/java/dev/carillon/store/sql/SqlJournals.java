package dev.carillon.store.sql;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Head;
import dev.carillon.store.Head.Status;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the journals' calls, as the contract has them, for heads that are rows. Each write
 * locks the head of its shard first, so comparison and change are one step.
 *
 * <p>Every call looks for refusals in this order: limits, then whether the shard is there, then its
 * epoch, then the rest. Appends, segments and snapshots are the store's own. It is a base class
 * because a step has a type parameter, which no lambda can have.
 *
 * @param <T> the tables of one transaction
 * @param <R> the rows of the heads
 */
public abstract class SqlJournals<T extends JournalTables<R>, R extends StoredHead<R>>
    implements Journals {

  private final StoreInfo info;

  /** Journals of a store with these limits. */
  protected SqlJournals(StoreInfo info) {
    this.info = info;
  }

  /** One transaction: ok to commit, anything else to roll back. */
  @FunctionalInterface
  public interface Step<T, A> {
    /** Runs it. */
    Outcome<A> run(T tables) throws SQLException;
  }

  private interface OwnersStep<T, R, A> {
    Outcome<A> run(T tables, R row) throws SQLException;
  }

  /** Runs a step that changes nothing. */
  protected abstract <A> Outcome<A> reading(Step<T, A> step);

  /** Runs a step that writes about {@code bytes}; a full store asks what it is for. */
  protected abstract <A> Outcome<A> writing(Operation operation, long bytes, Step<T, A> step);

  /** Makes a shard that is within the limits. */
  protected abstract Outcome<Head> create(Head head);

  /** Stages an entry whose snapshot is its batch, for the generation after the current one. */
  protected abstract Outcome<Long> stage(T tables, R row, Entry entry) throws SQLException;

  /** Publishes a snapshot of a locked head. */
  protected abstract Outcome<Head> publish(T tables, R row, Publication publication)
      throws SQLException;

  /** Reads entries of a generation that is kept, from a number that is at least 1. */
  protected abstract ReadPage read(T tables, R row, int generation, long from, int maxBytes)
      throws SQLException;

  /** Remembers where a shard's next append goes, inside the transaction that found it out. */
  protected abstract void remember(R row, long tail);

  /** Forgets that, as the shard is gone. */
  protected abstract void forget(ShardId shard);

  @Override
  public final Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
    if (home.getBytes(StandardCharsets.UTF_8).length > info.maxKeyBytes()) {
      return new Outcome.TooLarge<>(info.maxKeyBytes());
    }
    return isTooLarge(summary)
        ? tooLarge()
        : create(Head.created(shard, home, wakeMicros, summary));
  }

  @Override
  public final Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    return writing(
        Operation.CLAIM,
        0,
        tables -> {
          R row = tables.lockHead(shard);
          if (row == null) {
            return new Outcome.Fenced<>(Head.DROPPED);
          }
          Head head = row.head();
          if (head.epoch() != expectedEpoch
              && (head.epoch() != expectedEpoch + 1 || head.owner() != owner)) {
            return new Outcome.Fenced<>(head.epoch());
          }
          long tail = tables.tail(row);
          if (head.epoch() == expectedEpoch) {
            row = row.with(head.claimedBy(owner), tail);
            tables.update(row);
          }
          remember(row, tail);
          return Outcome.ok(new Claim(row.head(), tail));
        });
  }

  @Override
  public final Outcome<Resolution> resolve(Append unknown) {
    return fenced(
        Operation.RESOLVE,
        unknown.shard(),
        unknown.epoch(),
        (tables, row) -> {
          long tail = tables.tail(row);
          if (unknown.generation() != row.head().generation() || unknown.number() > tail + 1) {
            return new Outcome.Conflict<>(tail);
          }
          if (unknown.number() <= tail) {
            return Outcome.ok(
                tables.holds(row, unknown) ? Resolution.COMMITTED : Resolution.ABSENT);
          }
          tables.addEntry(row, new Entry(unknown.number(), unknown.epoch(), 0, new byte[0]));
          remember(row, unknown.number());
          return Outcome.ok(Resolution.ABSENT);
        });
  }

  @Override
  public final Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    return fenced(
        Operation.LOWER_WAKE,
        shard,
        epoch,
        (tables, row) ->
            wakeMicros < row.head().wakeMicros()
                ? update(tables, row.with(row.head().waking(wakeMicros)))
                : Outcome.ok(row.head()));
  }

  @Override
  public final Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
    if (isTooLarge(summary)) {
      return tooLarge();
    }
    return fenced(
        Operation.SEAL,
        shard,
        epoch,
        (tables, row) ->
            row.head().status() == Status.SEALED
                ? Outcome.ok(row.head())
                : update(tables, row.with(row.head().sealedWith(summary))));
  }

  @Override
  public final Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
    if (isTooLarge(summary)) {
      return tooLarge();
    }
    return fenced(
        Operation.RELEASE,
        shard,
        epoch,
        (tables, row) -> {
          long tail = tables.tail(row);
          if (tail != expectedTail) {
            return new Outcome.Conflict<>(tail);
          }
          return row.head().released()
              ? Outcome.ok(row.head())
              : update(tables, row.with(row.head().releasedWith(summary), tail));
        });
  }

  @Override
  public final Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
    return reading(
        tables -> {
          R row = tables.head(shard);
          if (row == null) {
            return new Outcome.Fenced<>(Head.DROPPED);
          }
          Head head = row.head();
          if (generation < head.oldestGeneration() || generation > head.generation()) {
            return new Outcome.Conflict<>(tables.tail(row));
          }
          return Outcome.ok(read(tables, row, generation, Math.max(from, 1), maxBytes));
        });
  }

  @Override
  public final Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    if (isTooLarge(data)) {
      return tooLarge();
    }
    return writing(
        Operation.STAGE,
        data.length,
        tables ->
            fenced(
                tables,
                shard,
                epoch,
                (same, row) ->
                    generation != row.head().generation()
                        ? new Outcome.Conflict<>(tables.tail(row))
                        : stage(tables, row, new Entry(number, 0, snapshot, data))));
  }

  @Override
  public final Outcome<Head> publish(Publication publication) {
    return isTooLarge(publication.summary())
        ? tooLarge()
        : fenced(
            Operation.PUBLISH,
            publication.shard(),
            publication.epoch(),
            (tables, row) -> publish(tables, row, publication));
  }

  @Override
  public final Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    return fenced(
        Operation.DROP_GENERATIONS,
        shard,
        epoch,
        (tables, row) -> {
          Head head = row.head();
          if (oldest > head.generation()) {
            return new Outcome.Conflict<>(tables.tail(row));
          }
          if (oldest <= head.oldestGeneration()) {
            return Outcome.ok(head);
          }
          tables.removeGenerations(row, oldest);
          return update(tables, row.with(head.keepingFrom(oldest)));
        });
  }

  @Override
  public final Outcome<Boolean> drop(ShardId shard, long epoch) {
    return writing(
        Operation.DROP,
        0,
        tables -> {
          R row = tables.lockHead(shard);
          if (row != null && row.head().epoch() != epoch) {
            return new Outcome.Fenced<>(row.head().epoch());
          }
          if (row != null) {
            tables.removeHead(row);
          }
          forget(shard);
          return Outcome.ok(true);
        });
  }

  @Override
  public final Outcome<Head> head(ShardId shard) {
    return reading(
        tables -> {
          R row = tables.head(shard);
          return row == null ? new Outcome.Fenced<>(Head.DROPPED) : Outcome.ok(row.head());
        });
  }

  @Override
  public final Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
    return reading(tables -> heads(tables.headsByWake(beforeMicros, after, limit)));
  }

  @Override
  public final Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    return reading(tables -> heads(tables.headsById(after, limit)));
  }

  private Outcome<List<Head>> heads(List<R> rows) {
    return Outcome.ok(rows.stream().map(StoredHead::head).toList());
  }

  /** Whether an entry or summary is over the limit. */
  protected final boolean isTooLarge(byte[] data) {
    return data.length > info.maxEntryBytes();
  }

  /** The refusal of such an entry or summary. */
  protected final <A> Outcome<A> tooLarge() {
    return new Outcome.TooLarge<>(info.maxEntryBytes());
  }

  private <A> Outcome<A> fenced(
      Operation operation, ShardId shard, long epoch, OwnersStep<T, R, A> step) {
    return writing(operation, 0, tables -> fenced(tables, shard, epoch, step));
  }

  private <A> Outcome<A> fenced(T tables, ShardId shard, long epoch, OwnersStep<T, R, A> step)
      throws SQLException {
    R row = tables.lockHead(shard);
    if (row == null) {
      return new Outcome.Fenced<>(Head.DROPPED);
    }
    return row.head().epoch() == epoch
        ? step.run(tables, row)
        : new Outcome.Fenced<>(row.head().epoch());
  }

  /** Writes a head and answers it. */
  protected final Outcome<Head> update(T tables, R row) throws SQLException {
    tables.update(row);
    return Outcome.ok(row.head());
  }
}
