package dev.carillon.store.postgres;

import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.sql.DamageException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Begins a new table of entries from time to time and drops those that nothing is needed of any
 * more, so that space comes back without a row being deleted. What is still needed in a table that
 * is old, or almost empty, is copied to the newest one first.
 *
 * <p>Every store that is open does this, beside the others: each step is one transaction that looks
 * again under a lock. Whoever adds a segment to a period holds a lock on its row, and whoever drops
 * it takes that row away first. The segment that takes appends never moves; a new one is begun for
 * it, as the next append would have done.
 */
final class Rotation implements AutoCloseable {

  private static final Duration PAUSE = Duration.ofSeconds(10);

  /** For copying, and for waiting until nobody reads a table that is to be dropped. */
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** A table with less than this part of its entries still needed is emptied, however young. */
  private static final int MIN_LIVE_PERCENT = 25;

  /** Below this a table is not worth copying for. */
  private static final long MIN_TABLE_BYTES = 64 << 20;

  private static final int SEGMENTS_A_PASS = 1_000;
  private static final int COPY_ENTRIES = 500;
  private static final int CLOSE_MILLIS = 5_000;

  private final Cluster cluster;
  private final PostgresOptions options;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread = new Thread(this::loop, "carillon-postgres-rotation");

  Rotation(Cluster cluster, PostgresOptions options) {
    this.cluster = cluster;
    this.options = options;
  }

  /** Makes sure that there is a table, and looks again every few seconds. */
  void begin() throws SQLException {
    Outcome<Integer> newest =
        cluster.database().read(session -> Outcome.ok(cluster.newestPeriod(session)));
    if (!newest.isOk() || newest.orThrow() == 0) {
      Outcome<Boolean> begun = beginPeriod(0);
      if (!begun.isOk()) {
        throw new SQLException("no table for entries: " + begun);
      }
    }
    thread.setDaemon(true);
    thread.start();
  }

  private void loop() {
    try {
      while (!closing.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
        turnSafely();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A row that cannot even be read must not end what keeps the tables small. */
  private void turnSafely() {
    try {
      turn();
    } catch (RuntimeException e) {
      // the next turn tries again
    }
  }

  /** One look, with all that follows. What fails is tried again at the next one. */
  void turn() {
    Outcome<List<Period>> periods =
        cluster.database().read(session -> Outcome.ok(periods(session)));
    if (!periods.isOk() || periods.orThrow().isEmpty()) {
      return;
    }
    Period newest = periods.orThrow().getLast();
    cluster.newest().set(newest.number);
    if (newest.due) {
      beginPeriod(newest.number);
    }
    for (Period period : periods.orThrow()) {
      if (period.number < cluster.newest().get()) {
        clean(period);
      }
    }
  }

  private void clean(Period period) {
    if (period.segments > 0 && (period.old || period.almostEmpty)) {
      empty(period.number);
    }
    drop(period.number);
  }

  /**
   * What is known of a table.
   *
   * @param due whether it is time for the next one
   * @param old whether it was kept long enough
   * @param almostEmpty whether little of it is needed any more
   * @param segments how many segments are in it
   */
  private record Period(int number, boolean due, boolean old, boolean almostEmpty, long segments) {}

  private List<Period> periods(Session session) throws SQLException {
    String regclass = "to_regclass('$.entries_" + cluster.id() + "_' || p.period)";
    try (PreparedStatement select =
        session.statement(
            "select p.period, extract(epoch from now() - p.begun) * 1000,"
                + " coalesce(pg_total_relation_size("
                + regclass
                + "), 0),"
                + " coalesce(pg_stat_get_live_tuples("
                + regclass
                + "), 0),"
                + " (select count(*) from $.segments s where s.cluster = p.cluster and"
                + " s.period = p.period),"
                + " (select coalesce(sum(greatest(last - first + 1, 0)), 0) from $.segments s where"
                + " s.cluster = p.cluster and s.period = p.period),"
                + " coalesce(pg_relation_size("
                + regclass
                + "), 0) > 0"
                + " from $.periods p where p.cluster = ? order by p.period")) {
      select.setInt(1, cluster.id());
      try (ResultSet rows = select.executeQuery()) {
        List<Period> found = new ArrayList<>();
        while (rows.next()) {
          found.add(period(rows));
        }
        return found;
      }
    }
  }

  private Period period(ResultSet rows) throws SQLException {
    long ageMillis = rows.getLong(2);
    long bytes = rows.getLong(3);
    long entries = rows.getLong(4);
    long needed = rows.getLong(6);
    long rotateMillis = options.rotateEvery().toMillis();
    return new Period(
        rows.getInt(1),
        (ageMillis >= rotateMillis && rows.getBoolean(7)) || bytes >= options.rotateBytes(),
        ageMillis >= rotateMillis + options.keepTables().toMillis(),
        bytes >= MIN_TABLE_BYTES && needed * 100 < entries * MIN_LIVE_PERCENT,
        rows.getLong(5));
  }

  /** Begins the period after {@code current}, unless somebody else has. */
  Outcome<Boolean> beginPeriod(int current) {
    return cluster
        .database()
        .writeWithin(
            TIMEOUT,
            session -> {
              // One at a time for a cluster.
              session.run(
                  "select 1 from $.clusters where id = " + cluster.id() + " for no key update");
              int newest = cluster.newestPeriod(session);
              if (newest == current) {
                Schema.createEntries(session, Tables.entries(cluster.id(), current + 1));
                session.run(
                    "insert into $.periods(cluster, period) values ("
                        + cluster.id()
                        + ", "
                        + (current + 1)
                        + ")");
              }
              return Outcome.ok(newest == current);
            })
        .map(
            made -> {
              if (made) {
                cluster.newest().set(current + 1);
              }
              return made;
            });
  }

  /** Drops a table that no segment is in. */
  Outcome<Boolean> drop(int period) {
    return cluster
        .database()
        .writeWithin(
            TIMEOUT,
            session -> {
              if (period >= cluster.newestPeriod(session)
                  || !takePeriod(session, period)
                  || segments(session, period, 1).size() > 0) {
                return new Outcome.Conflict<>(0);
              }
              session.run("drop table if exists " + Tables.entries(cluster.id(), period));
              return Outcome.ok(true);
            });
  }

  /** Waits for those who are adding a segment; none can be added after it. */
  private boolean takePeriod(Session session, int period) throws SQLException {
    try (PreparedStatement delete =
        session.statement("delete from $.periods where cluster = ? and period = ?")) {
      delete.setInt(1, cluster.id());
      delete.setInt(2, period);
      return delete.executeUpdate() == 1;
    }
  }

  private record Place(ShardId shard, long segment) {}

  private List<Place> segments(Session session, int period, int limit) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select shard, key from $.segments where cluster = ? and period = ? limit ?")) {
      select.setInt(1, cluster.id());
      select.setInt(2, period);
      select.setInt(3, limit);
      try (ResultSet rows = select.executeQuery()) {
        List<Place> found = new ArrayList<>();
        while (rows.next()) {
          found.add(new Place(ShardId.parse(rows.getString(1)), rows.getLong(2)));
        }
        return found;
      }
    }
  }

  /** Copies what is still needed of a table to the newest one. */
  private void empty(int period) {
    Outcome<List<Place>> places =
        cluster.database().read(session -> Outcome.ok(segments(session, period, SEGMENTS_A_PASS)));
    if (!places.isOk()) {
      return;
    }
    for (Place place : places.orThrow()) {
      if (closing.getCount() == 0) {
        return;
      }
      // One that cannot be moved, being damaged perhaps, does not keep the others.
      move(place, period);
    }
  }

  /**
   * Moves one segment. Its entries are copied first, without a lock, since they do not change; then
   * the head is locked and the segment's row says where they are.
   */
  private Outcome<Boolean> move(Place place, int from) {
    Outcome<Boolean> rolled = cluster.database().write(session -> rollIfOpen(session, place));
    if (!rolled.isOk() || rolled.orThrow()) {
      return rolled;
    }
    int to = cluster.newest().get();
    long copied = 0;
    while (true) {
      long after = copied;
      Outcome<Long> next =
          cluster.database().writeWithin(TIMEOUT, session -> copy(session, place, from, to, after));
      if (!next.isOk()) {
        return next.map(ok -> false);
      }
      if (next.orThrow() == 0) {
        break;
      }
      copied = next.orThrow();
    }
    return cluster.database().write(session -> repoint(session, place, from, to));
  }

  /**
   * Begins a new segment for a shard whose open one is to be moved, and forgets a snapshot that was
   * never published.
   *
   * @return whether that was all there was to do
   */
  private Outcome<Boolean> rollIfOpen(Session session, Place place) throws SQLException {
    Tables tables = cluster.tables(session);
    HeadRow row = tables.lockHead(place.shard);
    if (row == null) {
      return Outcome.ok(true);
    }
    for (Segment segment : tables.segments(place.shard)) {
      if (segment.key() == place.segment && segment.state() == Segment.State.STAGED) {
        tables.remove(segment);
        return Outcome.ok(true);
      }
    }
    if (row.segment() == place.segment) {
      long tail = tables.tail(row);
      cluster.roll(tables, row, tail);
      return Outcome.ok(tail == row.base());
    }
    return Outcome.ok(false);
  }

  /** Copies some entries; answers the last of them, 0 for none. */
  private Outcome<Long> copy(Session session, Place place, int from, int to, long after)
      throws SQLException {
    try (PreparedStatement copy =
        session.statement(
            "with page as materialized (select * from "
                + Tables.entries(cluster.id(), from)
                + " where segment = ? and number > ? order by number limit ?),"
                + " copied as (insert into "
                + Tables.entries(cluster.id(), to)
                + " select * from page on conflict do nothing)"
                + " select coalesce(max(number), 0) from page")) {
      copy.setLong(1, place.segment);
      copy.setLong(2, after);
      copy.setInt(3, COPY_ENTRIES);
      try (ResultSet rows = copy.executeQuery()) {
        rows.next();
        return Outcome.ok(rows.getLong(1));
      }
    }
  }

  private Outcome<Boolean> repoint(Session session, Place place, int from, int to)
      throws SQLException {
    Tables tables = cluster.tables(session);
    if (tables.lockHead(place.shard) == null) {
      return Outcome.ok(true);
    }
    for (Segment segment : tables.segments(place.shard)) {
      if (segment.key() == place.segment && segment.period() == from) {
        requireCopied(session, place.shard, segment, to);
        tables.keep(to);
        tables.update(place.shard, segment.movedTo(to));
      }
    }
    return Outcome.ok(true);
  }

  private void requireCopied(Session session, ShardId shard, Segment segment, int to)
      throws SQLException {
    try (PreparedStatement count =
        session.statement(
            "select count(*) from "
                + Tables.entries(cluster.id(), to)
                + " where segment = ? and number between ? and ?")) {
      count.setLong(1, segment.key());
      count.setLong(2, segment.first());
      count.setLong(3, segment.last());
      try (ResultSet rows = count.executeQuery()) {
        rows.next();
        if (rows.getLong(1) != segment.last() - segment.first() + 1) {
          throw new DamageException(
              "shard " + shard + ", segment " + segment.key() + ": entries are missing");
        }
      }
    }
  }

  /** Whatever it is doing is a transaction, which ends with its connection. */
  @Override
  public void close() {
    closing.countDown();
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
