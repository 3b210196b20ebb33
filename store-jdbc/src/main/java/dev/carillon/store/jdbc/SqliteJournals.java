package dev.carillon.store.jdbc;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Head.Status;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.jdbc.Database.Urgency;
import dev.carillon.store.jdbc.HeadCache.Position;
import dev.carillon.store.jdbc.Tables.EntryRange;
import dev.carillon.store.jdbc.Tables.WriterRow;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The journals of a {@link SqliteStore}. Every write is one transaction on the only connection that
 * writes, so comparison and change are one step. Refusals are looked for in the same order as in
 * the store in memory: limits, then whether the shard is there, then its epoch, then the rest.
 */
final class SqliteJournals implements Journals {

  private final Database database;
  private final StoreInfo info;

  SqliteJournals(Database database, StoreInfo info) {
    this.database = database;
    this.info = info;
  }

  @Override
  public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
    if (home.getBytes(StandardCharsets.UTF_8).length > info.maxKeyBytes()) {
      return new Outcome.TooLarge<>(info.maxKeyBytes());
    }
    if (summary.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return database.write(
        Urgency.ORDINARY,
        tables -> {
          HeadRow row = tables.head(shard);
          if (row != null
              && (row.head().epoch() == 1 || row.head().owner() == shard.incarnation())) {
            return Outcome.ok(row.head());
          }
          WriterRow writer = tables.writer(shard.incarnation());
          if (shard.sequence() <= writer.created()) {
            return new Outcome.Conflict<>(writer.created());
          }
          tables.put(new WriterRow(writer.writer(), shard.sequence(), writer.resolved()));
          Head head =
              new Head(
                  shard,
                  1,
                  shard.incarnation(),
                  false,
                  Status.OPEN,
                  1,
                  1,
                  wakeMicros,
                  home,
                  summary);
          remember(tables.addHead(head), 0);
          return Outcome.ok(head);
        });
  }

  @Override
  public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    return database.write(
        Urgency.ORDINARY,
        tables -> {
          HeadRow row = tables.head(shard);
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
            row = row.claimed(owner, tail);
            tables.update(row);
          }
          remember(row, tail);
          return Outcome.ok(new Claim(row.head(), tail));
        });
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    return new AppendGroup(database, info, group, allOrNothing).run();
  }

  @Override
  public Outcome<Resolution> resolve(Append unknown) {
    return fenced(
        Urgency.URGENT,
        unknown.shard(),
        unknown.epoch(),
        (tables, row) -> {
          long tail = tables.tail(row);
          if (unknown.generation() != row.head().generation() || unknown.number() > tail + 1) {
            return new Outcome.Conflict<>(tail);
          }
          if (unknown.number() <= tail) {
            return Outcome.ok(
                tables.holds(row.segment(), unknown) ? Resolution.COMMITTED : Resolution.ABSENT);
          }
          tables.addEntry(
              row.segment(),
              unknown.shard(),
              unknown.generation(),
              new Entry(unknown.number(), unknown.epoch(), 0, new byte[0]));
          tables.flushEntries();
          database.cache().remove(unknown.shard());
          return Outcome.ok(Resolution.ABSENT);
        });
  }

  @Override
  public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    return fenced(
        Urgency.ORDINARY,
        shard,
        epoch,
        (tables, row) ->
            Outcome.ok(
                wakeMicros < row.head().wakeMicros()
                    ? update(tables, row.waking(wakeMicros))
                    : row.head()));
  }

  @Override
  public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
    if (summary.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        Urgency.ORDINARY,
        shard,
        epoch,
        (tables, row) ->
            Outcome.ok(
                row.head().status() == Status.SEALED
                    ? row.head()
                    : update(tables, row.sealed(summary))));
  }

  @Override
  public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
    if (summary.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        Urgency.URGENT,
        shard,
        epoch,
        (tables, row) -> {
          long tail = tables.tail(row);
          if (tail != expectedTail) {
            return new Outcome.Conflict<>(tail);
          }
          return Outcome.ok(
              row.head().released() ? row.head() : update(tables, row.released(tail, summary)));
        });
  }

  @Override
  public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
    return database.read(
        tables -> {
          HeadRow row = tables.head(shard);
          if (row == null) {
            return new Outcome.Fenced<>(Head.DROPPED);
          }
          Head head = row.head();
          if (generation < head.oldestGeneration() || generation > head.generation()) {
            return new Outcome.Conflict<>(tables.tail(row));
          }
          Segment old = generation == head.generation() ? null : tables.live(row, generation);
          EntryRange range =
              new EntryRange(
                  shard,
                  generation,
                  old == null ? row.segment() : old.key(),
                  old == null ? row.tail() : old.tail(),
                  Math.max(from, 1),
                  maxBytes);
          List<Entry> entries = new ArrayList<>();
          boolean complete = tables.read(range, entries);
          return Outcome.ok(new ReadPage(entries, complete));
        });
  }

  @Override
  public Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    if (data.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        Urgency.ORDINARY,
        data.length,
        shard,
        epoch,
        (tables, row) -> {
          if (generation != row.head().generation()) {
            return new Outcome.Conflict<>(tables.tail(row));
          }
          return stage(tables, row, new Entry(number, 0, snapshot, data));
        });
  }

  /** An entry of a snapshot is written by its snapshot, as others are by their batch. */
  private static Outcome<Long> stage(Tables tables, HeadRow row, Entry entry) throws SQLException {
    int generation = row.head().generation() + 1;
    long number = entry.number();
    Segment staged = tables.staged(row);
    if (staged == null || staged.snapshot() != entry.batch()) {
      if (number != 1) {
        return new Outcome.Conflict<>(0);
      }
      if (staged != null) {
        tables.update(staged.garbage());
      }
      staged = tables.addSegment(row.key(), generation, entry.batch(), Segment.State.STAGED);
    }
    long tail = tables.tail(staged.key());
    if (number > tail + 1) {
      return new Outcome.Conflict<>(tail);
    }
    if (number == tail + 1) {
      tables.addEntry(staged.key(), row.head().shard(), generation, entry);
      tables.flushEntries();
    }
    return Outcome.ok(number);
  }

  @Override
  public Outcome<Head> publish(Publication publication) {
    if (publication.summary().length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        Urgency.ORDINARY,
        publication.shard(),
        publication.epoch(),
        (tables, row) -> publish(tables, row, publication));
  }

  private Outcome<Head> publish(Tables tables, HeadRow row, Publication publication)
      throws SQLException {
    Head head = row.head();
    if (publication.generation() == head.generation() - 1
        && tables.live(row, head.generation()).snapshot() == publication.snapshot()) {
      return Outcome.ok(head);
    }
    long tail = tables.tail(row);
    if (publication.generation() != head.generation() || publication.expectedTail() != tail) {
      return new Outcome.Conflict<>(tail);
    }
    Segment staged = tables.staged(row);
    boolean same = staged != null && staged.snapshot() == publication.snapshot();
    if (publication.count() > (same && staged != null ? tables.tail(staged.key()) : 0)) {
      return new Outcome.Conflict<>(tail);
    }
    Segment next;
    if (same && staged != null) {
      tables.removeRange(staged.key(), publication.count(), Long.MAX_VALUE);
      next = staged.live(publication.count());
      tables.update(next);
    } else {
      if (staged != null) {
        tables.update(staged.garbage());
      }
      next =
          tables.addSegment(
              row.key(), head.generation() + 1, publication.snapshot(), Segment.State.LIVE);
    }
    tables.update(tables.live(row, head.generation()).live(tail));
    HeadRow published = row.published(next, publication.wakeMicros(), publication.summary());
    remember(published, publication.count());
    return Outcome.ok(update(tables, published));
  }

  @Override
  public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    return fenced(
        Urgency.URGENT,
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
          for (Segment segment : tables.segments(row)) {
            if (segment.generation() < oldest) {
              tables.update(segment.garbage());
            }
          }
          return Outcome.ok(update(tables, row.keepingFrom(oldest)));
        });
  }

  @Override
  public Outcome<Boolean> drop(ShardId shard, long epoch) {
    return database.write(
        Urgency.URGENT,
        tables -> {
          HeadRow row = tables.head(shard);
          if (row == null) {
            return Outcome.ok(true);
          }
          if (row.head().epoch() != epoch) {
            return new Outcome.Fenced<>(row.head().epoch());
          }
          for (Segment segment : tables.segments(row)) {
            tables.update(segment.garbage());
          }
          tables.removeHead(row);
          database.cache().remove(shard);
          return Outcome.ok(true);
        });
  }

  @Override
  public Outcome<Head> head(ShardId shard) {
    return database.read(
        tables -> {
          HeadRow row = tables.head(shard);
          return row == null ? new Outcome.Fenced<>(Head.DROPPED) : Outcome.ok(row.head());
        });
  }

  @Override
  public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
    return database.read(
        tables -> Outcome.ok(heads(tables.headsByWake(beforeMicros, after, limit))));
  }

  @Override
  public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    return database.read(tables -> Outcome.ok(heads(tables.headsById(after, limit))));
  }

  private static List<Head> heads(List<HeadRow> rows) {
    return rows.stream().map(HeadRow::head).toList();
  }

  /** What the owner of an epoch may do. */
  private interface OwnersStep<T> {
    Outcome<T> run(Tables tables, HeadRow row) throws SQLException;
  }

  private <T> Outcome<T> fenced(Urgency urgency, ShardId shard, long epoch, OwnersStep<T> step) {
    return fenced(urgency, 0, shard, epoch, step);
  }

  private <T> Outcome<T> fenced(
      Urgency urgency, long bytes, ShardId shard, long epoch, OwnersStep<T> step) {
    return database.write(
        urgency,
        bytes,
        tables -> {
          HeadRow row = tables.head(shard);
          if (row == null) {
            return new Outcome.Fenced<>(Head.DROPPED);
          }
          if (row.head().epoch() != epoch) {
            return new Outcome.Fenced<>(row.head().epoch());
          }
          return step.run(tables, row);
        });
  }

  private static Head update(Tables tables, HeadRow row) throws SQLException {
    tables.update(row);
    return row.head();
  }

  /** So that the first append reads nothing. Should the transaction fail, all is forgotten. */
  private void remember(HeadRow row, long tail) {
    database.cache().put(row.head().shard(), new Position(row, tail));
  }
}
