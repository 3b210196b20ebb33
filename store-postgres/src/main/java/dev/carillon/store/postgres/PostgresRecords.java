package dev.carillon.store.postgres;

import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.postgres.Database.UndoneException;
import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.DamageException;
import dev.carillon.store.sql.RecordKeys;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The records of a {@link PostgresStore}. Keys are kept as the bytes of their UTF-8, so that any
 * text is a key and their order is that of the bytes.
 *
 * <p>Who changes records locks the row of the writer in share mode, and who resolves updates it: no
 * change can be under way while it is resolved, and a late one finds that it was. A writer's row is
 * made before its first change.
 */
final class PostgresRecords implements Records {

  private static final int MAX_WRITERS = 10_000;

  private final Cluster cluster;
  private final Database database;
  private final StoreInfo info;

  /**
   * Writers whose row is there; a few for each process, which are forgotten when there are many.
   */
  private final Set<Writer> writers = ConcurrentHashMap.newKeySet();

  /** A writer whose row is in one copy of the data; an older copy may not have it. */
  private record Writer(String incarnation, long id) {}

  PostgresRecords(Cluster cluster, StoreInfo info) {
    this.cluster = cluster;
    this.database = cluster.database();
    this.info = info;
  }

  @Override
  public Outcome<Optional<Stored>> get(String key) {
    byte[] bytes = RecordKeys.utf8(key);
    return database.read(
        session -> {
          try (PreparedStatement select =
              session.statement(
                  "select key, writer, sequence, crc, value from $.records"
                      + " where cluster = ? and key = ?")) {
            select.setInt(1, cluster.id());
            select.setBytes(2, bytes);
            List<Stored> found = stored(select);
            return Outcome.ok(found.stream().findFirst());
          }
        });
  }

  @Override
  public Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit) {
    byte[] first = RecordKeys.utf8(prefix);
    byte[] after = afterKey == null ? first : RecordKeys.utf8(afterKey);
    boolean paged = afterKey != null && Arrays.compareUnsigned(after, first) >= 0;
    return database.read(
        session -> {
          try (PreparedStatement select =
              session.statement(
                  "select key, writer, sequence, crc, value from $.records"
                      + " where cluster = ? and key "
                      + (paged ? ">" : ">=")
                      + " ? and key < ? order by key limit ?")) {
            select.setInt(1, cluster.id());
            select.setBytes(2, paged ? after : first);
            select.setBytes(3, RecordKeys.behind(first));
            select.setInt(4, Math.max(limit, 0));
            return Outcome.ok(stored(select));
          }
        });
  }

  private static List<Stored> stored(PreparedStatement select) throws SQLException {
    Checksum checksum = new Checksum();
    List<Stored> found = new ArrayList<>();
    try (ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        byte[] key = rows.getBytes(1);
        byte[] value = rows.getBytes(5);
        String text = new String(key, StandardCharsets.UTF_8);
        Stamp version = new Stamp(rows.getLong(2), rows.getLong(3));
        if (checksum.record(key, version.writer(), version.sequence(), value) != rows.getLong(4)) {
          throw new DamageException("record " + text + ": wrong checksum");
        }
        found.add(new Stored(text, value, version));
      }
    }
    return found;
  }

  @Override
  public List<Outcome<Stamp>> apply(List<Change> changes) {
    return new Batch(changes).run();
  }

  @Override
  public Outcome<Boolean> resolve(Change unknown) {
    byte[] key = RecordKeys.utf8(unknown.key());
    return database.write(
        session -> {
          long writer = unknown.stamp().writer();
          addWriters(session, Set.of(writer));
          long resolved = resolved(session, writer, " for no key update");
          if (unknown.stamp().sequence() > resolved) {
            putResolved(session, writer, unknown.stamp().sequence());
          }
          Stamp version = version(session, key);
          return Outcome.ok(unknown.isInEffect(version));
        });
  }

  private void addWriters(Session session, Set<Long> ids) throws SQLException {
    try (PreparedStatement insert =
        session.statement(
            "insert into $.writers(cluster, writer, resolved, crc) values (?, ?, 0, ?)"
                + " on conflict do nothing")) {
      for (long id : ids) {
        insert.setInt(1, cluster.id());
        insert.setLong(2, id);
        insert.setLong(3, Tables.mark(id, 0));
        insert.executeUpdate();
      }
    }
  }

  /** The highest sequence of that writer that was resolved. */
  private long resolved(Session session, long writer, String lock) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select resolved, crc from $.writers where cluster = ? and writer = ?" + lock)) {
      select.setInt(1, cluster.id());
      select.setLong(2, writer);
      try (ResultSet rows = select.executeQuery()) {
        if (!rows.next()) {
          throw new DamageException("writer " + Long.toHexString(writer) + ": missing");
        }
        long resolved = rows.getLong(1);
        if (Tables.mark(writer, resolved) != rows.getLong(2)) {
          throw new DamageException("writer " + Long.toHexString(writer) + ": wrong checksum");
        }
        return resolved;
      }
    }
  }

  private void putResolved(Session session, long writer, long sequence) throws SQLException {
    try (PreparedStatement update =
        session.statement(
            "update $.writers set resolved = ?, crc = ? where cluster = ? and writer = ?")) {
      update.setLong(1, sequence);
      update.setLong(2, Tables.mark(writer, sequence));
      update.setInt(3, cluster.id());
      update.setLong(4, writer);
      Session.mustChangeOne(update);
    }
  }

  private Stamp version(Session session, byte[] key) throws SQLException {
    try (PreparedStatement select =
        session.statement("select writer, sequence from $.records where cluster = ? and key = ?")) {
      select.setInt(1, cluster.id());
      select.setBytes(2, key);
      try (ResultSet rows = select.executeQuery()) {
        return rows.next() ? new Stamp(rows.getLong(1), rows.getLong(2)) : Stamp.ABSENT;
      }
    }
  }

  /** How a change is made. Codes are those of the statement below. */
  private enum Kind {
    INSERT(0),
    UPDATE(1),
    DELETE(2),
    /** A delete of what must not be there changes nothing. */
    LOOK(3);

    final int code;

    Kind(int code) {
      this.code = code;
    }

    static Kind of(Change change) {
      boolean absent = change.expected().equals(Stamp.ABSENT);
      if (change.value() == null) {
        return absent ? LOOK : DELETE;
      }
      return absent ? INSERT : UPDATE;
    }
  }

  /**
   * The changes of one call. All that can be made as expected are made by one statement; what it
   * left out is looked at under locks, all of it at once, and what can be made is made one by one.
   *
   * <p>Calls of several nodes meet at the same keys, and a deadlock costs them the second after
   * which the server looks for one. So each locks the records that are there first, in the order of
   * their keys, then adds those that are not, in the same order, and only then changes anything:
   * who waits for one that is being added waits for nobody who waits for what is changed.
   */
  private final class Batch {

    private static final String AT_ONCE =
        """
        with c as materialized (
          select * from unnest(?::int8[], ?::int8[], ?::int8[], ?::int8[], ?::int8[], ?::int8[],
            ?::int8[], ?::bytea[], ?::bytea[])
            as c(place, kind, writer, sequence, crc, ewriter, esequence, key, value)),
        w as materialized (
          select writer, resolved from $.writers where cluster = ? and writer = any(?)
          order by writer for share),
        allowed as materialized (
          select c.* from c join w on w.writer = c.writer
          where c.sequence > w.resolved
            and exists (select 1 from $.clusters where id = ? and incarnation = ?)),
        l as materialized (
          select r.key, a.kind, a.writer, a.sequence, a.crc, a.value
          from $.records r join allowed a on r.key = a.key
          where a.kind in (1, 2) and r.cluster = ?
            and r.writer = a.ewriter and r.sequence = a.esequence
          order by r.key for no key update of r),
        i as (
          insert into $.records(cluster, key, writer, sequence, crc, value)
          select ?, key, writer, sequence, crc, value from allowed
          where kind = 0 and (select count(*) from l) >= 0 order by key
          on conflict do nothing returning key),
        u as (
          update $.records r set writer = l.writer, sequence = l.sequence, crc = l.crc,
            value = l.value
          from l where l.kind = 1 and r.cluster = ? and r.key = l.key
            and (select count(*) from i) >= 0
          returning r.key),
        d as (
          delete from $.records r using l
          where l.kind = 2 and r.cluster = ? and r.key = l.key
            and (select count(*) from i) >= 0
          returning r.key)
        select c.place from c join (select key from i union all select key from u
          union all select key from d) done on done.key = c.key
        """;

    private final List<Change> changes;
    private final List<byte[]> keys;
    private final @Nullable Outcome<Stamp>[] outcomes;
    private final boolean distinct;
    private final long bytes;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array is the plain way to fill in any order
    Batch(List<Change> changes) {
      this.changes = changes;
      this.keys = new ArrayList<>(changes.size());
      this.outcomes = new Outcome[changes.size()];
      long sum = 0;
      for (Change change : changes) {
        byte[] key = RecordKeys.utf8(change.key());
        byte[] value = change.value();
        keys.add(key);
        sum += key.length + (value == null ? 0 : value.length);
      }
      this.bytes = sum;
      this.distinct = changes.stream().map(Change::key).distinct().count() == changes.size();
    }

    List<Outcome<Stamp>> run() {
      if (bytes > info.maxGroupBytes()) {
        fill(new Outcome.TooLarge<>(info.maxGroupBytes()));
      } else {
        refuseTooLarge();
        Outcome<Boolean> known = knowWriters();
        if (!known.isOk()) {
          fill(known.map(ok -> Stamp.ABSENT));
        }
        if (distinct && !unanswered().isEmpty()) {
          writeAtOnce();
        }
        if (!unanswered().isEmpty()) {
          writeWithLook();
        }
      }
      return Arrays.asList(outcomes);
    }

    private void fill(Outcome<Stamp> outcome) {
      for (int index : unanswered()) {
        outcomes[index] = outcome;
      }
    }

    private List<Integer> unanswered() {
      List<Integer> indexes = new ArrayList<>();
      for (int i = 0; i < outcomes.length; i++) {
        if (outcomes[i] == null) {
          indexes.add(i);
        }
      }
      return indexes;
    }

    private void refuseTooLarge() {
      for (int i = 0; i < outcomes.length; i++) {
        byte[] value = changes.get(i).value();
        if (keys.get(i).length > info.maxKeyBytes()) {
          outcomes[i] = new Outcome.TooLarge<>(info.maxKeyBytes());
        } else if (value != null && value.length > info.maxValueBytes()) {
          outcomes[i] = new Outcome.TooLarge<>(info.maxValueBytes());
        }
      }
    }

    private Set<Long> writersOf(List<Integer> indexes) {
      Set<Long> ids = new TreeSet<>();
      indexes.forEach(index -> ids.add(changes.get(index).stamp().writer()));
      return ids;
    }

    /** Makes rows for writers that have none; idempotent, and no effect of a change. */
    private Outcome<Boolean> knowWriters() {
      String copy = cluster.identity().incarnation();
      Set<Long> missing = writersOf(unanswered());
      missing.removeIf(id -> writers.contains(new Writer(copy, id)));
      if (missing.isEmpty()) {
        return Outcome.ok(true);
      }
      Outcome<Boolean> outcome =
          database.write(
              session -> {
                addWriters(session, missing);
                return Outcome.ok(true);
              });
      if (writers.size() > MAX_WRITERS) {
        writers.clear();
      }
      if (outcome.isOk()) {
        missing.forEach(id -> writers.add(new Writer(copy, id)));
      }
      return outcome instanceof Outcome.Unknown
          ? new Outcome.Unavailable<>("it is not known whether the writer was noted")
          : outcome;
    }

    private void writeAtOnce() {
      Outcome<List<Integer>> outcome;
      List<Integer> indexes = unanswered();
      try {
        outcome = database.writeAtOnce(session -> Outcome.ok(changeAtOnce(session, indexes)));
      } catch (UndoneException e) {
        return;
      }
      if (!outcome.isOk()) {
        fill(outcome.map(ok -> Stamp.ABSENT));
        return;
      }
      for (int index : outcome.orThrow()) {
        outcomes[index] = Outcome.ok(changes.get(index).stamp());
      }
    }

    private List<Integer> changeAtOnce(Session session, List<Integer> indexes) throws SQLException {
      Checksum checksum = new Checksum();
      int size = indexes.size();
      long[][] numbers = new long[7][size];
      byte[][] keyColumn = new byte[size][];
      byte[][] values = new byte[size][];
      for (int i = 0; i < size; i++) {
        Change change = changes.get(indexes.get(i));
        byte[] key = keys.get(indexes.get(i));
        byte[] value = change.value();
        Stamp stamp = change.stamp();
        numbers[0][i] = indexes.get(i);
        numbers[1][i] = Kind.of(change).code;
        numbers[2][i] = stamp.writer();
        numbers[3][i] = stamp.sequence();
        numbers[4][i] =
            value == null ? 0 : checksum.record(key, stamp.writer(), stamp.sequence(), value);
        numbers[5][i] = change.expected().writer();
        numbers[6][i] = change.expected().sequence();
        keyColumn[i] = key;
        values[i] = value == null ? new byte[0] : value;
      }
      try (PreparedStatement statement = session.statement(AT_ONCE)) {
        int next = 1;
        for (long[] column : numbers) {
          session.setLongs(statement, next++, column);
        }
        session.setBytes(statement, next++, keyColumn);
        session.setBytes(statement, next++, values);
        statement.setInt(next++, cluster.id());
        session.setLongs(
            statement, next++, writersOf(indexes).stream().mapToLong(Long::longValue).toArray());
        statement.setInt(next++, cluster.id());
        statement.setString(next++, cluster.identity().own());
        statement.setInt(next++, cluster.id());
        statement.setInt(next++, cluster.id());
        statement.setInt(next++, cluster.id());
        statement.setInt(next, cluster.id());
        return places(statement);
      }
    }

    private static List<Integer> places(PreparedStatement statement) throws SQLException {
      List<Integer> places = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          places.add(rows.getInt(1));
        }
      }
      return places;
    }

    private void writeWithLook() {
      List<Integer> indexes = unanswered();
      if (distinct) {
        indexes.sort((one, other) -> Arrays.compareUnsigned(keys.get(one), keys.get(other)));
      }
      List<Outcome<Stamp>> found = new ArrayList<>();
      Outcome<Boolean> outcome =
          database.write(
              bytes,
              session -> {
                found.clear();
                cluster.identity().verify(session);
                Map<Long, Long> resolved = lockWriters(session, indexes);
                Look look = look(session, indexes);
                for (int index : indexes) {
                  found.add(change(session, index, resolved, look));
                }
                return Outcome.ok(true);
              });
      for (int i = 0; i < indexes.size(); i++) {
        outcomes[indexes.get(i)] = outcome.isOk() ? found.get(i) : outcome.map(ok -> Stamp.ABSENT);
      }
    }

    /** The highest sequence of each writer that was resolved; it stays so to the end. */
    private Map<Long, Long> lockWriters(Session session, List<Integer> indexes)
        throws SQLException {
      Map<Long, Long> resolved = new HashMap<>();
      for (long writer : writersOf(indexes)) {
        resolved.put(writer, resolved(session, writer, " for share"));
      }
      return resolved;
    }

    /**
     * What lies there.
     *
     * @param locked the versions of those that stay as they are until this call changes them
     * @param late those that came after the others were locked
     */
    private record Look(Map<ByteBuffer, Stamp> locked, Map<ByteBuffer, Stamp> late) {}

    /** Locks in an order that all who do so share. */
    private Look look(Session session, List<Integer> indexes) throws SQLException {
      byte[][] wanted = indexes.stream().map(keys::get).toArray(byte[][]::new);
      Map<ByteBuffer, Stamp> locked = versions(session, wanted, " order by key for no key update");
      byte[][] missing =
          Arrays.stream(wanted)
              .filter(key -> !locked.containsKey(ByteBuffer.wrap(key)))
              .toArray(byte[][]::new);
      return new Look(locked, missing.length == 0 ? Map.of() : versions(session, missing, ""));
    }

    private Map<ByteBuffer, Stamp> versions(Session session, byte[][] wanted, String lock)
        throws SQLException {
      Map<ByteBuffer, Stamp> versions = new HashMap<>();
      try (PreparedStatement select =
          session.statement(
              "select key, writer, sequence from $.records where cluster = ? and key = any(?)"
                  + lock)) {
        select.setInt(1, cluster.id());
        session.setBytes(select, 2, wanted);
        try (ResultSet rows = select.executeQuery()) {
          while (rows.next()) {
            versions.put(
                ByteBuffer.wrap(rows.getBytes(1)), new Stamp(rows.getLong(2), rows.getLong(3)));
          }
        }
      }
      return versions;
    }

    private Outcome<Stamp> change(Session session, int index, Map<Long, Long> resolved, Look look)
        throws SQLException {
      Change change = changes.get(index);
      ByteBuffer key = ByteBuffer.wrap(keys.get(index));
      long closed = Objects.requireNonNull(resolved.get(change.stamp().writer()));
      if (change.stamp().sequence() <= closed) {
        return new Outcome.Fenced<>(closed);
      }
      Stamp late = look.late().get(key);
      Stamp version = late != null ? late : look.locked().getOrDefault(key, Stamp.ABSENT);
      if (change.value() != null && version.equals(change.stamp())) {
        return Outcome.ok(change.stamp());
      }
      // One that is late is not waited for: it is not what is expected.
      if (late != null || !version.equals(change.expected())) {
        return new Outcome.Conflict<>(version.sequence());
      }
      Outcome<Stamp> outcome = set(session, keys.get(index), change);
      if (outcome.isOk()) { // for one after it in this call
        look.locked().put(key, change.value() == null ? Stamp.ABSENT : change.stamp());
      }
      return outcome;
    }

    /** The record is locked where there is one; where there is none, another may still come. */
    private Outcome<Stamp> set(Session session, byte[] key, Change change) throws SQLException {
      byte[] value = change.value();
      if (value == null) {
        remove(session, key, change);
        return Outcome.ok(change.stamp());
      }
      boolean insert = Kind.of(change) == Kind.INSERT;
      try (PreparedStatement put =
          session.statement(
              insert
                  ? "insert into $.records(writer, sequence, crc, value, cluster, key)"
                      + " values (?, ?, ?, ?, ?, ?) on conflict do nothing"
                  : "update $.records set writer = ?, sequence = ?, crc = ?, value = ?"
                      + " where cluster = ? and key = ?")) {
        Stamp stamp = change.stamp();
        put.setLong(1, stamp.writer());
        put.setLong(2, stamp.sequence());
        put.setLong(3, new Checksum().record(key, stamp.writer(), stamp.sequence(), value));
        put.setBytes(4, value);
        put.setInt(5, cluster.id());
        put.setBytes(6, key);
        return put.executeUpdate() == 1
            ? Outcome.ok(stamp)
            : new Outcome.Conflict<>(version(session, key).sequence());
      }
    }

    private void remove(Session session, byte[] key, Change change) throws SQLException {
      if (Kind.of(change) == Kind.LOOK) {
        return;
      }
      try (PreparedStatement delete =
          session.statement("delete from $.records where cluster = ? and key = ?")) {
        delete.setInt(1, cluster.id());
        delete.setBytes(2, key);
        Session.mustChangeOne(delete);
      }
    }
  }
}
