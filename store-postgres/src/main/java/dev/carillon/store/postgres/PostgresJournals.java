package dev.carillon.store.postgres;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.postgres.Database.UndoneException;
import dev.carillon.store.postgres.Tables.Range;
import dev.carillon.store.sql.SqlJournals;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The journals of a {@link PostgresStore}. Every change of a shard but an append locks its head so
 * that nobody else can change it or append. To resolve an append waits for it, should it still be
 * under way on the server: it holds the head's lock.
 */
final class PostgresJournals extends SqlJournals<Tables, HeadRow> {

  private final Cluster cluster;
  private final Database database;
  private final StoreInfo info;

  PostgresJournals(Cluster cluster, StoreInfo info) {
    super(info);
    this.cluster = cluster;
    this.database = cluster.database();
    this.info = info;
  }

  @Override
  protected <A> Outcome<A> reading(Step<Tables, A> step) {
    return database.read(session -> step.run(cluster.tables(session)));
  }

  @Override
  protected <A> Outcome<A> writing(Operation operation, long bytes, Step<Tables, A> step) {
    return database.write(bytes, session -> step.run(cluster.tables(session)));
  }

  @Override
  protected Outcome<Head> create(Head head) {
    for (int period = 0; period != cluster.newest().get(); ) {
      period = cluster.newest().get();
      Outcome<Boolean> made = make(head, period);
      if (!made.isOk() || made.orThrow()) {
        return made.map(ok -> head);
      }
      Outcome<Optional<Head>> existing = existing(head.shard());
      if (!existing.isOk() || existing.orThrow().isPresent()) {
        return existing.map(Optional::orElseThrow);
      }
      // Neither made nor there, and never was: the period is gone, and there must be a newer one.
      Outcome<Integer> newest = database.read(session -> Outcome.ok(cluster.newestPeriod(session)));
      if (!newest.isOk()) {
        return newest.map(ok -> head);
      }
    }
    return new Outcome.Unavailable<>("no table for the entries of shard " + head.shard());
  }

  private Outcome<Boolean> make(Head head, int period) {
    try {
      return database.writeAtOnce(
          session -> {
            Segment first = Segment.open(cluster.keys().next(session), 1, 0, period, 1);
            HeadRow row = new HeadRow(head, first.key(), period, 0, 0);
            boolean made = cluster.tables(session).create(row, first);
            if (made) {
              cluster.positions().put(row);
            }
            return Outcome.ok(made);
          });
    } catch (UndoneException e) {
      return Outcome.ok(false);
    }
  }

  /** The shard that a create must answer; none where nothing speaks against making it. */
  private Outcome<Optional<Head>> existing(ShardId shard) {
    return reading(
        tables -> {
          HeadRow row = tables.head(shard);
          if (row != null
              && (row.head().epoch() == 1 || row.head().owner() == shard.incarnation())) {
            return Outcome.ok(Optional.of(row.head()));
          }
          int created = tables.created(shard.incarnation());
          return shard.sequence() <= created
              ? new Outcome.Conflict<>(created)
              : Outcome.ok(Optional.empty());
        });
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    return new AppendGroup(
            cluster, info, group, Collections.nCopies(group.size(), Rider.NONE), allOrNothing)
        .run();
  }

  /**
   * All in one transaction. Where that does not come about, or nobody knows whether it did, each by
   * itself: to release a shard again changes nothing.
   */
  @Override
  public List<Outcome<Head>> releaseAll(List<Release> releases) {
    if (releases.size() > 1) {
      long bytes = releases.stream().mapToLong(one -> one.summary().length).sum();
      Outcome<List<Outcome<Head>>> together =
          writing(Operation.RELEASE, bytes, tables -> Outcome.ok(releaseAll(tables, releases)));
      if (together.isOk()) {
        return together.orThrow();
      }
    }
    return super.releaseAll(releases);
  }

  private List<Outcome<Head>> releaseAll(Tables tables, List<Release> releases)
      throws SQLException {
    Map<ShardId, HeadRow> rows = tables.lockHeads(releases.stream().map(Release::shard).toList());
    Map<Long, Long> tails = tables.tails(rows.values());
    List<Outcome<Head>> outcomes = new ArrayList<>();
    List<HeadRow> changed = new ArrayList<>();
    for (Release release : releases) {
      HeadRow row = rows.get(release.shard());
      if (isTooLarge(release.summary())) {
        outcomes.add(tooLarge());
      } else if (row == null) {
        outcomes.add(new Outcome.Fenced<>(Head.DROPPED));
      } else if (row.head().epoch() != release.epoch()) {
        outcomes.add(new Outcome.Fenced<>(row.head().epoch()));
      } else {
        long tail = tails.getOrDefault(row.segment(), 0L);
        if (tail != release.expectedTail()) {
          outcomes.add(new Outcome.Conflict<>(tail));
          continue;
        }
        if (!row.head().released()) {
          row = row.with(row.head().releasedWith(release.summary()), tail);
          rows.put(release.shard(), row); // should it be named twice
          changed.add(row);
        }
        outcomes.add(Outcome.ok(row.head()));
      }
    }
    tables.updateAll(changed);
    return outcomes;
  }

  /**
   * Entries are found by three statements that each see what is committed when they start. What the
   * first found stays true enough: an entry of a segment is never changed, and a segment that was
   * moved meanwhile has its entries in both tables until the old one is dropped. Then the statement
   * fails, and all begins anew.
   */
  @Override
  protected ReadPage read(Tables tables, HeadRow row, int generation, long from, int maxBytes)
      throws SQLException {
    List<Entry> entries = new ArrayList<>();
    long next = from;
    long left = maxBytes;
    for (Segment segment : tables.segments(row.head().shard())) {
      boolean open = segment.key() == row.segment();
      long last = open ? Long.MAX_VALUE : segment.last();
      if (segment.generation() != generation
          || segment.state() != Segment.State.LIVE
          || next > last) {
        continue;
      }
      int before = entries.size();
      Range range = new Range(next, last, Math.max(left, 0));
      if (!tables.read(row.head().shard(), segment, range, entries)) {
        return new ReadPage(entries, false);
      }
      for (Entry entry : entries.subList(before, entries.size())) {
        left -= entry.data().length;
      }
      next += entries.size() - before;
    }
    return new ReadPage(entries, true);
  }

  /** An entry of a snapshot is written by its snapshot, as others are by their batch. */
  @Override
  protected Outcome<Long> stage(Tables tables, HeadRow row, Entry entry) throws SQLException {
    ShardId shard = row.head().shard();
    long number = entry.number();
    Segment staged = tables.staged(shard);
    if (staged == null || staged.snapshot() != entry.batch()) {
      if (number != 1) {
        return new Outcome.Conflict<>(0);
      }
      if (staged != null) {
        tables.remove(staged);
      }
      staged =
          Segment.staged(
              cluster.keys().next(tables.session()),
              row.head().generation() + 1,
              entry.batch(),
              cluster.newestPeriod(tables.session()));
      tables.add(shard, staged);
    }
    long tail = tables.highest(staged.key(), staged.period());
    if (number > tail + 1) {
      return new Outcome.Conflict<>(tail);
    }
    if (number == tail + 1) {
      tables.addEntries(shard, staged, List.of(entry));
    }
    return Outcome.ok(number);
  }

  @Override
  protected Outcome<Head> publish(Tables tables, HeadRow row, Publication publication)
      throws SQLException {
    Head head = row.head();
    ShardId shard = head.shard();
    Segment current = tables.current(row);
    if (publication.generation() == head.generation() - 1
        && current.snapshot() == publication.snapshot()) {
      return Outcome.ok(head);
    }
    long tail = tables.tail(row);
    if (publication.generation() != head.generation() || publication.expectedTail() != tail) {
      return new Outcome.Conflict<>(tail);
    }
    Segment staged = tables.staged(shard);
    boolean same = staged != null && staged.snapshot() == publication.snapshot();
    long count = same && staged != null ? tables.highest(staged.key(), staged.period()) : 0;
    if (publication.count() > count) {
      return new Outcome.Conflict<>(tail);
    }
    if (tail < current.first() && current.first() > 1) {
      // It was begun for a period and never written to; what lies before it is the generation.
      tables.remove(current);
    } else {
      tables.update(shard, current.closed(tail));
    }
    Segment next = same && staged != null ? staged : replace(tables, row, staged, publication);
    if (count > publication.count()) {
      tables.trim(next, publication.count());
    }
    tables.update(shard, next.published());
    return update(
        tables,
        row.published(next, publication.count(), publication.wakeMicros(), publication.summary()));
  }

  /** The segment of a snapshot of which nothing was staged. */
  private Segment replace(
      Tables tables, HeadRow row, @Nullable Segment other, Publication publication)
      throws SQLException {
    if (other != null) {
      tables.remove(other);
    }
    Segment next =
        Segment.staged(
            cluster.keys().next(tables.session()),
            row.head().generation() + 1,
            publication.snapshot(),
            cluster.newestPeriod(tables.session()));
    tables.add(row.head().shard(), next);
    return next;
  }

  /** So that the first append reads nothing. A hint may also be of what was rolled back. */
  @Override
  protected void remember(HeadRow row, long tail) {
    cluster.positions().put(row);
  }

  @Override
  protected void forget(ShardId shard) {
    cluster.positions().remove(shard);
  }
}
