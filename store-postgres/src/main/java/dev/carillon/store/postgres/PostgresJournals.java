package dev.carillon.store.postgres;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Head.Status;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.postgres.Database.UndoneException;
import dev.carillon.store.postgres.Tables.Range;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The journals of a {@link PostgresStore}. Every change of a shard but an append locks its head so
 * that nobody else can change it or append; comparison and change are one step therefore. Refusals
 * are looked for in the same order as in the store in memory: limits, then whether the shard is
 * there, then its epoch, then the rest.
 */
final class PostgresJournals implements Journals {

  private final Cluster cluster;
  private final Database database;
  private final StoreInfo info;

  PostgresJournals(Cluster cluster, StoreInfo info) {
    this.cluster = cluster;
    this.database = cluster.database();
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
    Head head =
        new Head(
            shard, 1, shard.incarnation(), false, Status.OPEN, 1, 1, wakeMicros, home, summary);
    for (int period = 0; period != cluster.newest().get(); ) {
      period = cluster.newest().get();
      Outcome<Boolean> made = make(head, period);
      if (!made.isOk() || made.orThrow()) {
        return made.map(ok -> head);
      }
      Outcome<Optional<Head>> existing = existing(shard);
      if (!existing.isOk() || existing.orThrow().isPresent()) {
        return existing.map(Optional::orElseThrow);
      }
      // Neither made nor there, and never was: the period is gone, and there must be a newer one.
      Outcome<Integer> newest = database.read(session -> Outcome.ok(cluster.newestPeriod(session)));
      if (!newest.isOk()) {
        return newest.map(ok -> head);
      }
    }
    return new Outcome.Unavailable<>("no table for the entries of shard " + shard);
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
    return database.read(
        session -> {
          Tables tables = cluster.tables(session);
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
  public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    return remembering(
        database.write(
            session -> {
              Tables tables = cluster.tables(session);
              HeadRow row = tables.lockHead(shard);
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
              return Outcome.ok(new Changed<>(row, new Claim(row.head(), tail)));
            }));
  }

  /** What a step answers, and the head as it has left it. */
  private record Changed<T>(HeadRow row, T answer) {}

  /** So that the first append reads nothing. */
  private <T> Outcome<T> remembering(Outcome<Changed<T>> outcome) {
    if (outcome.isOk()) {
      cluster.positions().put(outcome.orThrow().row);
    }
    return outcome.map(Changed::answer);
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    return new AppendGroup(
            cluster, info, group, Collections.nCopies(group.size(), Rider.NONE), allOrNothing)
        .run();
  }

  /** Waits for the append, should it still be under way on the server: it holds the head's lock. */
  @Override
  public Outcome<Resolution> resolve(Append unknown) {
    return fenced(
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
          Cluster.addEntry(
              tables, row, new Entry(unknown.number(), unknown.epoch(), 0, new byte[0]));
          return Outcome.ok(Resolution.ABSENT);
        });
  }

  @Override
  public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    return fenced(
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

  /**
   * All in one transaction. Where that does not come about, or nobody knows whether it did, each by
   * itself: to release a shard again changes nothing.
   */
  @Override
  public List<Outcome<Head>> releaseAll(List<Release> releases) {
    if (releases.size() > 1) {
      long bytes = releases.stream().mapToLong(one -> one.summary().length).sum();
      Outcome<List<Outcome<Head>>> together =
          database.write(
              bytes, session -> Outcome.ok(releaseAll(cluster.tables(session), releases)));
      if (together.isOk()) {
        return together.orThrow();
      }
    }
    return Journals.super.releaseAll(releases);
  }

  private List<Outcome<Head>> releaseAll(Tables tables, List<Release> releases)
      throws SQLException {
    Map<ShardId, HeadRow> rows = tables.lockHeads(releases.stream().map(Release::shard).toList());
    Map<Long, Long> tails = tables.tails(rows.values());
    List<Outcome<Head>> outcomes = new ArrayList<>();
    List<HeadRow> changed = new ArrayList<>();
    for (Release release : releases) {
      HeadRow row = rows.get(release.shard());
      if (release.summary().length > info.maxEntryBytes()) {
        outcomes.add(new Outcome.TooLarge<>(info.maxEntryBytes()));
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
          row = row.released(tail, release.summary());
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
  public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
    return database.read(
        session -> {
          Tables tables = cluster.tables(session);
          HeadRow row = tables.head(shard);
          if (row == null) {
            return new Outcome.Fenced<>(Head.DROPPED);
          }
          Head head = row.head();
          if (generation < head.oldestGeneration() || generation > head.generation()) {
            return new Outcome.Conflict<>(tables.tail(row));
          }
          List<Segment> segments = tables.segments(shard);
          List<Entry> entries = new ArrayList<>();
          boolean complete =
              readAll(tables, row, generation, new Place(segments, from, maxBytes), entries);
          return Outcome.ok(new ReadPage(entries, complete));
        });
  }

  /** Where to read, and how much. */
  private record Place(List<Segment> segments, long from, long maxBytes) {}

  private static boolean readAll(
      Tables tables, HeadRow row, int generation, Place place, List<Entry> entries)
      throws SQLException {
    long next = Math.max(place.from, 1);
    long left = place.maxBytes;
    for (Segment segment : place.segments) {
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
        return false;
      }
      for (Entry entry : entries.subList(before, entries.size())) {
        left -= entry.data().length;
      }
      next += entries.size() - before;
    }
    return true;
  }

  @Override
  public Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    if (data.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
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
  private Outcome<Long> stage(Tables tables, HeadRow row, Entry entry) throws SQLException {
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
  public Outcome<Head> publish(Publication publication) {
    if (publication.summary().length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        publication.shard(),
        publication.epoch(),
        (tables, row) -> publish(tables, row, publication));
  }

  private Outcome<Head> publish(Tables tables, HeadRow row, Publication publication)
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
    return Outcome.ok(
        update(
            tables,
            row.published(
                next, publication.count(), publication.wakeMicros(), publication.summary())));
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

  @Override
  public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    return fenced(
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
          for (Segment segment : tables.segments(shard)) {
            if (segment.generation() < oldest) {
              tables.remove(segment);
            }
          }
          return Outcome.ok(update(tables, row.keepingFrom(oldest)));
        });
  }

  @Override
  public Outcome<Boolean> drop(ShardId shard, long epoch) {
    Outcome<Boolean> outcome =
        database.write(
            session -> {
              Tables tables = cluster.tables(session);
              HeadRow row = tables.lockHead(shard);
              if (row == null) {
                return Outcome.ok(true);
              }
              if (row.head().epoch() != epoch) {
                return new Outcome.Fenced<>(row.head().epoch());
              }
              for (Segment segment : tables.segments(shard)) {
                tables.remove(segment);
              }
              tables.removeHead(shard);
              return Outcome.ok(true);
            });
    cluster.positions().remove(shard);
    return outcome;
  }

  @Override
  public Outcome<Head> head(ShardId shard) {
    return database.read(
        session -> {
          HeadRow row = cluster.tables(session).head(shard);
          return row == null ? new Outcome.Fenced<>(Head.DROPPED) : Outcome.ok(row.head());
        });
  }

  @Override
  public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
    return database.read(
        session ->
            Outcome.ok(heads(cluster.tables(session).headsByWake(beforeMicros, after, limit))));
  }

  @Override
  public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    return database.read(
        session -> Outcome.ok(heads(cluster.tables(session).headsById(after, limit))));
  }

  private static List<Head> heads(List<HeadRow> rows) {
    return rows.stream().map(HeadRow::head).toList();
  }

  /** What the owner of an epoch may do. */
  private interface OwnersStep<T> {
    Outcome<T> run(Tables tables, HeadRow row) throws SQLException;
  }

  private <T> Outcome<T> fenced(ShardId shard, long epoch, OwnersStep<T> step) {
    return fenced(0, shard, epoch, step);
  }

  private <T> Outcome<T> fenced(long bytes, ShardId shard, long epoch, OwnersStep<T> step) {
    return database.write(
        bytes,
        session -> {
          Tables tables = cluster.tables(session);
          HeadRow row = tables.lockHead(shard);
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
}
