package dev.carillon.store.jdbc;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.jdbc.Database.Urgency;
import dev.carillon.store.jdbc.HeadCache.Position;
import dev.carillon.store.jdbc.Tables.EntryRange;
import dev.carillon.store.jdbc.Tables.WriterRow;
import dev.carillon.store.sql.SqlJournals;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The journals of a {@link SqliteStore}. Every write is one transaction on the only connection that
 * writes, so comparison and change are one step.
 */
final class SqliteJournals extends SqlJournals<Tables, HeadRow> {

  private final Database database;
  private final StoreInfo info;

  SqliteJournals(Database database, StoreInfo info) {
    super(info);
    this.database = database;
    this.info = info;
  }

  @Override
  protected <A> Outcome<A> reading(Step<Tables, A> step) {
    return database.read(step::run);
  }

  /** What frees space, or settles something, may use the reserve. */
  @Override
  protected <A> Outcome<A> writing(Operation operation, long bytes, Step<Tables, A> step) {
    Urgency urgency = operation.needsRoom() ? Urgency.ORDINARY : Urgency.URGENT;
    return database.write(urgency, bytes, step::run);
  }

  @Override
  protected Outcome<Head> create(Head head) {
    ShardId shard = head.shard();
    return writing(
        Operation.CREATE,
        0,
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
          remember(tables.addHead(head), 0);
          return Outcome.ok(head);
        });
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    return new AppendGroup(database, info, group, allOrNothing).run();
  }

  @Override
  protected ReadPage read(Tables tables, HeadRow row, int generation, long from, int maxBytes)
      throws SQLException {
    Head head = row.head();
    Segment old = generation == head.generation() ? null : tables.live(row, generation);
    EntryRange range =
        new EntryRange(
            head.shard(),
            generation,
            old == null ? row.segment() : old.key(),
            old == null ? row.tail() : old.tail(),
            from,
            maxBytes);
    List<Entry> entries = new ArrayList<>();
    boolean complete = tables.read(range, entries);
    return new ReadPage(entries, complete);
  }

  /** An entry of a snapshot is written by its snapshot, as others are by their batch. */
  @Override
  protected Outcome<Long> stage(Tables tables, HeadRow row, Entry entry) throws SQLException {
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
  protected Outcome<Head> publish(Tables tables, HeadRow row, Publication publication)
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
    return update(tables, published);
  }

  /** So that the first append reads nothing. Should the transaction fail, all is forgotten. */
  @Override
  protected void remember(HeadRow row, long tail) {
    database.cache().put(row.head().shard(), new Position(row, tail));
  }

  @Override
  protected void forget(ShardId shard) {
    database.cache().remove(shard);
  }
}
