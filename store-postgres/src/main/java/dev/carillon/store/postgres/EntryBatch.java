package dev.carillon.store.postgres;

import dev.carillon.store.Entry;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Entries on their way to the server, as one array for each column. */
final class EntryBatch {

  private final long[] segments;
  private final long[] numbers;
  private final long[] epochs;
  private final long[] batches;
  private final long[] crcs;
  private final byte[][] data;
  private int size;

  EntryBatch(int capacity) {
    segments = new long[capacity];
    numbers = new long[capacity];
    epochs = new long[capacity];
    batches = new long[capacity];
    crcs = new long[capacity];
    data = new byte[capacity][];
  }

  void add(long segment, long crc, Entry entry) {
    segments[size] = segment;
    numbers[size] = entry.number();
    epochs[size] = entry.epoch();
    batches[size] = entry.batch();
    crcs[size] = crc;
    data[size] = entry.data();
    size++;
  }

  /** Sets the columns, from the parameter at {@code from} on; answers the next one. */
  int set(Session session, PreparedStatement statement, int from) throws SQLException {
    int next = from;
    session.setLongs(statement, next++, segments);
    session.setLongs(statement, next++, numbers);
    session.setLongs(statement, next++, epochs);
    session.setLongs(statement, next++, batches);
    session.setLongs(statement, next++, crcs);
    session.setBytes(statement, next++, data);
    return next;
  }

  /** Inserts them all, or fails. */
  void insert(Session session, String table) throws SQLException {
    if (size == 1) {
      insertOne(session, table);
    } else {
      insertAll(session, table);
    }
  }

  /** A large entry is cheaper by itself than through an array; see {@link FewEntries}. */
  private void insertOne(Session session, String table) throws SQLException {
    try (PreparedStatement insert =
        session.statement(
            "insert into "
                + table
                + "(segment, number, epoch, batch, crc, data) values (?, ?, ?, ?, ?, ?)")) {
      insert.setLong(1, segments[0]);
      insert.setLong(2, numbers[0]);
      insert.setLong(3, epochs[0]);
      insert.setLong(4, batches[0]);
      insert.setLong(5, crcs[0]);
      Session.setUncopied(insert, 6, data[0]);
      Session.mustChangeOne(insert);
    }
  }

  private void insertAll(Session session, String table) throws SQLException {
    try (PreparedStatement insert =
        session.statement(
            "insert into "
                + table
                + "(segment, number, epoch, batch, crc, data) select * from unnest(?::int8[],"
                + " ?::int8[], ?::int8[], ?::int8[], ?::int8[], ?::bytea[])")) {
      set(session, insert, 1);
      Session.mustChange(insert, size);
    }
  }
}
