package dev.carillon.store.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the parts of one open store share: the way to the server, who they are there, and what they
 * remember of it. All of it is thread-safe, and all that is remembered is a hint.
 *
 * @param newest the newest period, as far as was seen from here
 */
record Cluster(
    Database database, Identity identity, Positions positions, Keys keys, AtomicInteger newest) {

  Cluster(Database database, Identity identity) {
    this(database, identity, new Positions(), new Keys(), new AtomicInteger());
  }

  int id() {
    return identity.cluster();
  }

  Tables tables(Session session) {
    return new Tables(session, id());
  }

  /** What was remembered of another copy of the data is worth nothing. */
  void forgetAll() {
    positions.clear();
    keys.clear();
  }

  /** The period whose table is written to now. */
  int newestPeriod(Session session) throws SQLException {
    try (PreparedStatement select =
        session.statement("select coalesce(max(period), 0) from $.periods where cluster = ?")) {
      select.setInt(1, id());
      try (ResultSet rows = select.executeQuery()) {
        rows.next();
        newest.set(rows.getInt(1));
        return rows.getInt(1);
      }
    }
  }

  /**
   * Lets the appends of a shard go to the newest table. Its head is locked.
   *
   * @return the head as it is then
   */
  HeadRow roll(Tables tables, HeadRow row, long tail) throws SQLException {
    int period = newestPeriod(tables.session());
    if (row.period() >= period) {
      return row;
    }
    Segment current = tables.current(row);
    Segment next =
        Segment.open(
            keys.next(tables.session()),
            current.generation(),
            current.snapshot(),
            period,
            tail + 1);
    if (tail < current.first()) {
      tables.remove(current);
    } else {
      tables.update(row.head().shard(), current.closed(tail));
    }
    tables.add(row.head().shard(), next);
    HeadRow rolled = row.rolled(next);
    tables.update(rolled);
    return rolled;
  }
}
