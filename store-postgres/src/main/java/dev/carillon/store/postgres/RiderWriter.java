package dev.carillon.store.postgres;

import dev.carillon.store.Records.Change;
import dev.carillon.store.Transactions.Place;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.sql.Checksum;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * What rides along the entries of one transaction: rows of the inbox and completions that go,
 * records that come. The rows are locked before anything is decided, so that of two who append the
 * same row one finds it gone.
 */
final class RiderWriter {

  private final Session session;
  private final int cluster;
  private final Set<Long> there = new HashSet<>();
  private final List<Rider> taken = new ArrayList<>();

  RiderWriter(Session session, int cluster) {
    this.session = session;
    this.cluster = cluster;
  }

  /** Locks the rows of the inbox, as far as they are there. */
  void lock(List<Rider> riders) throws SQLException {
    long[] rows = rows(riders);
    if (rows.length == 0) {
      return;
    }
    try (PreparedStatement select =
        session.statement(
            "select id from $.inbox where cluster = ? and id = any(?) order by id for update")) {
      select.setInt(1, cluster);
      session.setLongs(select, 2, rows);
      try (ResultSet found = select.executeQuery()) {
        while (found.next()) {
          there.add(found.getLong(1));
        }
      }
    }
  }

  /** Takes a rider along; false where a row of it is not there, or rides along another entry. */
  boolean take(Rider rider) {
    if (!there.containsAll(rider.rows())) {
      return false;
    }
    if (!rider.isNone()) {
      rider.rows().forEach(there::remove);
      taken.add(rider);
    }
    return true;
  }

  /** Does what rides along. */
  void write() throws SQLException {
    deleteRows();
    putRecords();
    deleteCompletions();
  }

  private static long[] rows(List<Rider> riders) {
    return riders.stream().flatMap(rider -> rider.rows().stream()).mapToLong(id -> id).toArray();
  }

  private void deleteRows() throws SQLException {
    long[] rows = rows(taken);
    if (rows.length == 0) {
      return;
    }
    try (PreparedStatement delete =
        session.statement("delete from $.inbox where cluster = ? and id = any(?)")) {
      delete.setInt(1, cluster);
      session.setLongs(delete, 2, rows);
      Session.mustChange(delete, rows.length);
    }
  }

  private void putRecords() throws SQLException {
    List<Change> puts = taken.stream().flatMap(rider -> rider.pointers().stream()).toList();
    if (puts.isEmpty()) {
      return;
    }
    Checksum checksum = new Checksum();
    int size = puts.size();
    byte[][] keys = new byte[size][];
    byte[][] values = new byte[size][];
    long[] writers = new long[size];
    long[] sequences = new long[size];
    long[] crcs = new long[size];
    for (int i = 0; i < size; i++) {
      Change put = puts.get(i);
      keys[i] = put.key().getBytes(StandardCharsets.UTF_8);
      values[i] = Objects.requireNonNull(put.value());
      writers[i] = put.stamp().writer();
      sequences[i] = put.stamp().sequence();
      crcs[i] = checksum.record(keys[i], writers[i], sequences[i], values[i]);
    }
    try (PreparedStatement insert =
        session.statement(
            "insert into $.records(cluster, key, writer, sequence, crc, value)"
                + " select ?, r.* from unnest(?::bytea[], ?::int8[], ?::int8[], ?::int8[],"
                + " ?::bytea[]) as r(key, writer, sequence, crc, value)")) {
      insert.setInt(1, cluster);
      session.setBytes(insert, 2, keys);
      session.setLongs(insert, 3, writers);
      session.setLongs(insert, 4, sequences);
      session.setLongs(insert, 5, crcs);
      session.setBytes(insert, 6, values);
      Session.mustChange(insert, size);
    }
  }

  /** What is not there any more is as good as deleted. */
  private void deleteCompletions() throws SQLException {
    List<Place> done = taken.stream().flatMap(rider -> rider.done().stream()).toList();
    if (done.isEmpty()) {
      return;
    }
    try (PreparedStatement delete =
        session.statement(
            "delete from $.completions c using unnest(?::text[], ?::int8[]) as d(shard, job)"
                + " where c.cluster = ? and c.shard = d.shard and c.job = d.job")) {
      session.setTexts(delete, 1, done.stream().map(place -> place.shard().toString()).toList());
      session.setLongs(delete, 2, done.stream().mapToLong(Place::job).toArray());
      delete.setInt(3, cluster);
      delete.executeUpdate();
    }
  }
}
