package dev.carillon.store.jdbc;

import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.jdbc.Database.Urgency;
import dev.carillon.store.jdbc.Tables.WriterRow;
import dev.carillon.store.sql.DamageException;
import dev.carillon.store.sql.RecordKeys;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The records of a {@link SqliteStore}. Keys are kept as the bytes of their UTF-8, so that any text
 * is a key and their order is that of the bytes.
 */
final class SqliteRecords implements Records {

  private final Database database;
  private final StoreInfo info;

  SqliteRecords(Database database, StoreInfo info) {
    this.database = database;
    this.info = info;
  }

  @Override
  public Outcome<Optional<Stored>> get(String key) {
    byte[] bytes = RecordKeys.utf8(key);
    return database.read(
        tables -> {
          PreparedStatement select =
              tables
                  .session()
                  .statement("select key, writer, sequence, crc, value from records where key = ?");
          select.setBytes(1, bytes);
          try (ResultSet rows = select.executeQuery()) {
            return Outcome.ok(rows.next() ? Optional.of(stored(tables, rows)) : Optional.empty());
          }
        });
  }

  private static Stored stored(Tables tables, ResultSet rows) throws SQLException {
    byte[] key = Tables.bytes(rows, 1);
    byte[] value = Tables.bytes(rows, 5);
    String text = new String(key, StandardCharsets.UTF_8);
    Stamp version = new Stamp(rows.getLong(2), rows.getLong(3));
    if (tables.checksum().record(key, version.writer(), version.sequence(), value)
        != rows.getLong(4)) {
      throw new DamageException("record " + text + ": wrong checksum");
    }
    return new Stored(text, value, version);
  }

  @Override
  public List<Outcome<Stamp>> apply(List<Change> changes) {
    Batch batch = new Batch(changes);
    if (batch.bytes > info.maxGroupBytes()) {
      return all(changes, new Outcome.TooLarge<>(info.maxGroupBytes()));
    }
    Outcome<Boolean> outcome =
        database.write(
            batch.deletesOnly ? Urgency.URGENT : Urgency.ORDINARY,
            batch.bytes,
            tables -> {
              batch.apply(tables);
              return Outcome.ok(true);
            });
    if (outcome.isOk()) {
      return batch.outcomes();
    }
    return all(changes, outcome.map(ok -> Stamp.ABSENT));
  }

  private static List<Outcome<Stamp>> all(List<Change> changes, Outcome<Stamp> outcome) {
    List<Outcome<Stamp>> outcomes = new ArrayList<>(changes.size());
    changes.forEach(change -> outcomes.add(outcome));
    return outcomes;
  }

  @Override
  public Outcome<Boolean> resolve(Change unknown) {
    byte[] key = RecordKeys.utf8(unknown.key());
    return database.write(
        Urgency.URGENT,
        tables -> {
          WriterRow writer = tables.writer(unknown.stamp().writer());
          if (unknown.stamp().sequence() > writer.resolved()) {
            tables.put(
                new WriterRow(writer.writer(), writer.created(), unknown.stamp().sequence()));
          }
          Stamp version = version(tables, key);
          return Outcome.ok(unknown.isInEffect(version));
        });
  }

  @Override
  public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
    byte[] first = RecordKeys.utf8(prefix);
    byte[] after = afterKey == null ? null : RecordKeys.utf8(afterKey);
    boolean paged = after != null && Arrays.compareUnsigned(after, first) >= 0;
    return database.read(
        tables -> {
          PreparedStatement select =
              tables
                  .session()
                  .statement(
                      "select key, writer, sequence, crc, value from records where key "
                          + (paged ? ">" : ">=")
                          + " ? and key < ? order by key limit ?");
          select.setBytes(1, paged && after != null ? after : first);
          select.setBytes(2, RecordKeys.behind(first));
          select.setInt(3, Math.max(limit, 0));
          List<Stored> page = new ArrayList<>();
          try (ResultSet rows = select.executeQuery()) {
            while (rows.next()) {
              page.add(stored(tables, rows));
            }
          }
          return Outcome.ok(page);
        });
  }

  private static Stamp version(Tables tables, byte[] key) throws SQLException {
    PreparedStatement select =
        tables.session().statement("select writer, sequence from records where key = ?");
    select.setBytes(1, key);
    try (ResultSet rows = select.executeQuery()) {
      return rows.next() ? new Stamp(rows.getLong(1), rows.getLong(2)) : Stamp.ABSENT;
    }
  }

  /** How a change is made: each kind is one statement. */
  private enum Kind {
    INSERT(
        "insert into records(value, writer, sequence, crc, key) values (?, ?, ?, ?, ?)"
            + " on conflict(key) do nothing"),
    UPDATE(
        "update records set value = ?, writer = ?, sequence = ?, crc = ?"
            + " where key = ? and writer = ? and sequence = ?"),
    DELETE("delete from records where key = ? and writer = ? and sequence = ?"),
    /** A delete of what must not be there changes nothing. */
    LOOK("");

    final String sql;

    Kind(String sql) {
      this.sql = sql;
    }

    static Kind of(Change change) {
      boolean absent = change.expected().equals(Stamp.ABSENT);
      if (change.value() == null) {
        return absent ? LOOK : DELETE;
      }
      return absent ? INSERT : UPDATE;
    }
  }

  /** The changes of one call. Those of one kind go to the database together. */
  private final class Batch {
    final List<Change> changes;
    final List<byte[]> keys;
    final Outcome<Stamp>[] outcomes;
    final boolean deletesOnly;
    final long bytes;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array is the plain way to fill in any order
    Batch(List<Change> changes) {
      this.changes = changes;
      this.keys = new ArrayList<>(changes.size());
      this.outcomes = new Outcome[changes.size()];
      boolean onlyDeletes = true;
      long sum = 0;
      for (Change change : changes) {
        byte[] key = RecordKeys.utf8(change.key());
        byte[] value = change.value();
        keys.add(key);
        onlyDeletes &= value == null;
        sum += key.length + (value == null ? 0 : value.length);
      }
      this.deletesOnly = onlyDeletes;
      this.bytes = sum;
    }

    List<Outcome<Stamp>> outcomes() {
      return Arrays.asList(outcomes);
    }

    /** Changes of different keys may go in any order; with a key twice they go one by one. */
    void apply(Tables tables) throws SQLException {
      Map<Long, Long> closed = new HashMap<>();
      Set<String> seen = new HashSet<>();
      Map<Kind, List<Integer>> runs = new EnumMap<>(Kind.class);
      for (int i = 0; i < changes.size(); i++) {
        Outcome<Stamp> refusal = refusal(tables, i, closed);
        if (refusal != null) {
          outcomes[i] = refusal;
          continue;
        }
        if (!seen.add(changes.get(i).key())) {
          flush(tables, runs);
          seen.clear();
          seen.add(changes.get(i).key());
        }
        runs.computeIfAbsent(Kind.of(changes.get(i)), kind -> new ArrayList<>()).add(i);
      }
      flush(tables, runs);
    }

    private @Nullable Outcome<Stamp> refusal(Tables tables, int index, Map<Long, Long> closed)
        throws SQLException {
      Change change = changes.get(index);
      byte[] value = change.value();
      if (keys.get(index).length > info.maxKeyBytes()) {
        return new Outcome.TooLarge<>(info.maxKeyBytes());
      }
      if (value != null && value.length > info.maxValueBytes()) {
        return new Outcome.TooLarge<>(info.maxValueBytes());
      }
      Long known = closed.get(change.stamp().writer());
      long limit = known != null ? known : tables.writer(change.stamp().writer()).resolved();
      closed.put(change.stamp().writer(), limit);
      return change.stamp().sequence() <= limit ? new Outcome.Fenced<>(limit) : null;
    }

    private void flush(Tables tables, Map<Kind, List<Integer>> runs) throws SQLException {
      for (Map.Entry<Kind, List<Integer>> run : runs.entrySet()) {
        flush(tables, run.getKey(), run.getValue());
      }
      runs.clear();
    }

    private void flush(Tables tables, Kind kind, List<Integer> run) throws SQLException {
      int[] changed = kind == Kind.LOOK ? new int[run.size()] : execute(tables, kind, run);
      for (int i = 0; i < changed.length; i++) {
        int index = run.get(i);
        outcomes[index] =
            changed[i] == 1
                ? Outcome.ok(changes.get(index).stamp())
                : unchanged(tables, changes.get(index), keys.get(index));
      }
    }

    private int[] execute(Tables tables, Kind kind, List<Integer> run) throws SQLException {
      PreparedStatement statement = tables.session().statement(kind.sql);
      for (int index : run) {
        bind(tables, statement, changes.get(index), keys.get(index));
        statement.addBatch();
      }
      return statement.executeBatch();
    }

    private void bind(Tables tables, PreparedStatement statement, Change change, byte[] key)
        throws SQLException {
      Stamp stamp = change.stamp();
      byte[] value = change.value();
      int next = 1;
      if (value != null) {
        statement.setBytes(next++, value);
        statement.setLong(next++, stamp.writer());
        statement.setLong(next++, stamp.sequence());
        statement.setLong(
            next++, tables.checksum().record(key, stamp.writer(), stamp.sequence(), value));
      }
      statement.setBytes(next++, key);
      if (!change.expected().equals(Stamp.ABSENT)) {
        statement.setLong(next++, change.expected().writer());
        statement.setLong(next, change.expected().sequence());
      }
    }

    private static Outcome<Stamp> unchanged(Tables tables, Change change, byte[] key)
        throws SQLException {
      Stamp version = version(tables, key);
      boolean repeated = change.value() != null && version.equals(change.stamp());
      boolean nothingToDelete = Kind.of(change) == Kind.LOOK && version.equals(Stamp.ABSENT);
      return repeated || nothingToDelete
          ? Outcome.ok(change.stamp())
          : new Outcome.Conflict<>(version.sequence());
    }
  }
}
