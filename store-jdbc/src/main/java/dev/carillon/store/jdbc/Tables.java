package dev.carillon.store.jdbc;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Head.Status;
import dev.carillon.store.ShardId;
import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.DamageException;
import dev.carillon.store.sql.JournalTables;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the journals' tables, each with its checksum: made when it is written, compared when
 * it is read. Belongs to one {@link Session} and to whoever holds that.
 */
final class Tables implements JournalTables<HeadRow> {

  static final List<String> SCHEMA =
      List.of(
          "create table meta(name text primary key, value text not null) without rowid",
          """
          create table heads(
            key integer primary key, shard text not null unique,
            epoch integer not null, owner integer not null, suspect integer not null,
            status integer not null, generation integer not null, oldest integer not null,
            segment integer not null, tail integer not null, wake integer not null,
            home blob not null, crc integer not null, summary blob not null)
          """,
          "create index heads_by_wake on heads(wake, shard)",
          """
          create table segments(
            key integer primary key, shard integer not null, generation integer not null,
            snapshot integer not null, state integer not null, tail integer not null,
            crc integer not null)
          """,
          "create index segments_by_shard on segments(shard, generation)",
          "create index segments_to_free on segments(key) where state = 3",
          """
          create table entries(
            id integer primary key, segment integer not null, number integer not null,
            epoch integer not null, batch integer not null, crc integer not null,
            data blob not null)
          """,
          "create unique index entries_by_number on entries(segment, number)",
          """
          create table records(
            key blob primary key, writer integer not null, sequence integer not null,
            crc integer not null, value blob not null) without rowid
          """,
          """
          create table writers(
            writer integer primary key, created integer not null, resolved integer not null,
            crc integer not null)
          """);

  private static final String HEAD_COLUMNS =
      "select key, shard, epoch, owner, suspect, status, generation, oldest, segment, wake, home,"
          + " crc, summary, tail from heads ";
  private static final String SEGMENT_COLUMNS =
      "select key, shard, generation, snapshot, state, crc, tail from segments ";

  private final Session session;
  private final Counters counters;
  private final Checksum checksum = new Checksum();

  Tables(Session session, Counters counters) {
    this.session = session;
    this.counters = counters;
  }

  Session session() {
    return session;
  }

  Checksum checksum() {
    return checksum;
  }

  @Override
  public @Nullable HeadRow head(ShardId shard) throws SQLException {
    PreparedStatement select = session.statement(HEAD_COLUMNS + "where shard = ?");
    select.setString(1, shard.toString());
    List<HeadRow> found = heads(select);
    return found.isEmpty() ? null : found.getFirst();
  }

  /** There is one writer: what it reads nobody else changes. */
  @Override
  public @Nullable HeadRow lockHead(ShardId shard) throws SQLException {
    return head(shard);
  }

  @Override
  public List<HeadRow> headsByWake(long beforeMicros, @Nullable Head after, int limit)
      throws SQLException {
    PreparedStatement select =
        session.statement(
            HEAD_COLUMNS
                + "where (wake, shard) > (?, ?) and wake < ? order by wake, shard limit ?");
    select.setLong(1, after == null ? Long.MIN_VALUE : after.wakeMicros());
    select.setString(2, after == null ? "" : after.shard().toString());
    select.setLong(3, beforeMicros);
    select.setInt(4, Math.max(limit, 0));
    return heads(select);
  }

  @Override
  public List<HeadRow> headsById(@Nullable ShardId after, int limit) throws SQLException {
    PreparedStatement select =
        session.statement(HEAD_COLUMNS + "where shard > ? order by shard limit ?");
    select.setString(1, after == null ? "" : after.toString());
    select.setInt(2, Math.max(limit, 0));
    return heads(select);
  }

  private List<HeadRow> heads(PreparedStatement select) throws SQLException {
    try (ResultSet rows = select.executeQuery()) {
      List<HeadRow> found = new ArrayList<>();
      while (rows.next()) {
        found.add(head(rows));
      }
      return found;
    }
  }

  private HeadRow head(ResultSet rows) throws SQLException {
    String shard = rows.getString(2);
    byte[] home = bytes(rows, 11);
    HeadRow row;
    try {
      row =
          new HeadRow(
              rows.getLong(1),
              rows.getLong(9),
              rows.getLong(14),
              new Head(
                  ShardId.parse(shard),
                  rows.getLong(3),
                  rows.getLong(4),
                  rows.getLong(5) != 0,
                  Status.ofCode(rows.getInt(6)),
                  rows.getInt(7),
                  rows.getInt(8),
                  rows.getLong(10),
                  new String(home, StandardCharsets.UTF_8),
                  bytes(rows, 13)));
    } catch (RuntimeException e) {
      throw new DamageException("head of shard " + shard + ": " + e.getMessage());
    }
    if (row.crc(checksum, home) != rows.getLong(12)) {
      throw new DamageException("head of shard " + shard + ": wrong checksum");
    }
    return row;
  }

  /** Adds a head and its first segment; answers its row. */
  HeadRow addHead(Head head) throws SQLException {
    long key = session.number("select coalesce(max(key), 0) + 1 from heads");
    Segment first = addSegment(key, head.generation(), 0, Segment.State.LIVE);
    HeadRow row = new HeadRow(key, first.key(), 0, head);
    write(
        session.statement(
            "insert into heads(shard, epoch, owner, suspect, status, generation, oldest, segment,"
                + " wake, home, crc, summary, tail, key)"
                + " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        row);
    return row;
  }

  @Override
  public void update(HeadRow row) throws SQLException {
    write(
        session.statement(
            "update heads set shard = ?, epoch = ?, owner = ?, suspect = ?, status = ?,"
                + " generation = ?, oldest = ?, segment = ?, wake = ?, home = ?, crc = ?,"
                + " summary = ?, tail = ? where key = ?"),
        row);
  }

  private void write(PreparedStatement statement, HeadRow row) throws SQLException {
    Head head = row.head();
    byte[] home = head.home().getBytes(StandardCharsets.UTF_8);
    statement.setString(1, head.shard().toString());
    statement.setLong(2, head.epoch());
    statement.setLong(3, head.owner());
    statement.setInt(4, head.suspect() ? 1 : 0);
    statement.setInt(5, head.status().code());
    statement.setInt(6, head.generation());
    statement.setInt(7, head.oldestGeneration());
    statement.setLong(8, row.segment());
    statement.setLong(9, head.wakeMicros());
    statement.setBytes(10, home);
    statement.setLong(11, row.crc(checksum, home));
    statement.setBytes(12, head.summary());
    statement.setLong(13, row.tail());
    statement.setLong(14, row.key());
    mustChangeOne(statement);
  }

  @Override
  public void removeGenerations(HeadRow row, int oldest) throws SQLException {
    for (Segment segment : segments(row)) {
      if (segment.generation() < oldest) {
        update(segment.garbage());
      }
    }
  }

  @Override
  public void removeHead(HeadRow row) throws SQLException {
    removeGenerations(row, Integer.MAX_VALUE);
    PreparedStatement delete = session.statement("delete from heads where key = ?");
    delete.setLong(1, row.key());
    mustChangeOne(delete);
  }

  Segment addSegment(long shard, int generation, long snapshot, Segment.State state)
      throws SQLException {
    long key = session.number("select coalesce(max(key), 0) + 1 from segments");
    Segment segment = new Segment(key, shard, generation, snapshot, state, 0);
    write(
        session.statement(
            "insert into segments(shard, generation, snapshot, state, crc, tail, key)"
                + " values (?, ?, ?, ?, ?, ?, ?)"),
        segment);
    return segment;
  }

  void update(Segment segment) throws SQLException {
    write(
        session.statement(
            "update segments set shard = ?, generation = ?, snapshot = ?, state = ?, crc = ?,"
                + " tail = ? where key = ?"),
        segment);
  }

  private void write(PreparedStatement statement, Segment segment) throws SQLException {
    statement.setLong(1, segment.shard());
    statement.setInt(2, segment.generation());
    statement.setLong(3, segment.snapshot());
    statement.setInt(4, segment.state().code());
    statement.setLong(5, segment.crc(checksum));
    statement.setLong(6, segment.tail());
    statement.setLong(7, segment.key());
    mustChangeOne(statement);
  }

  /** All segments of a shard, in the order of their generations. */
  List<Segment> segments(HeadRow row) throws SQLException {
    PreparedStatement select =
        session.statement(SEGMENT_COLUMNS + "where shard = ? order by generation, key");
    select.setLong(1, row.key());
    return segments(select);
  }

  /** The next segment whose entries are to be removed. */
  @Nullable Segment garbage() throws SQLException {
    List<Segment> found =
        segments(session.statement(SEGMENT_COLUMNS + "where state = 3 order by key limit 1"));
    return found.isEmpty() ? null : found.getFirst();
  }

  private List<Segment> segments(PreparedStatement select) throws SQLException {
    try (ResultSet rows = select.executeQuery()) {
      List<Segment> found = new ArrayList<>();
      while (rows.next()) {
        Segment segment =
            new Segment(
                rows.getLong(1),
                rows.getLong(2),
                rows.getInt(3),
                rows.getLong(4),
                Segment.State.ofCode(rows.getInt(5)),
                rows.getLong(7));
        if (segment.crc(checksum) != rows.getLong(6)) {
          throw new DamageException("segment " + segment.key() + ": wrong checksum");
        }
        found.add(segment);
      }
      return found;
    }
  }

  @Nullable Segment staged(HeadRow row) throws SQLException {
    for (Segment segment : segments(row)) {
      if (segment.state() == Segment.State.STAGED) {
        return segment;
      }
    }
    return null;
  }

  /** The segment of a generation that is kept. */
  Segment live(HeadRow row, int generation) throws SQLException {
    for (Segment segment : segments(row)) {
      if (segment.state() == Segment.State.LIVE && segment.generation() == generation) {
        return segment;
      }
    }
    throw new DamageException(
        "shard " + row.head().shard() + ", generation " + generation + ": missing");
  }

  void removeSegment(Segment segment) throws SQLException {
    PreparedStatement delete = session.statement("delete from segments where key = ?");
    delete.setLong(1, segment.key());
    mustChangeOne(delete);
  }

  @Override
  public long tail(HeadRow row) throws SQLException {
    long tail = tail(row.segment());
    if (tail < row.tail()) {
      throw DamageException.ofEntry(
          row.head().shard(), row.head().generation(), row.tail(), "missing");
    }
    return tail;
  }

  /** The number of the last entry, 0 for none. */
  long tail(long segment) throws SQLException {
    counters.journalReads.increment();
    PreparedStatement select =
        session.statement(
            "select number from entries where segment = ? order by number desc limit 1");
    select.setLong(1, segment);
    try (ResultSet rows = select.executeQuery()) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }

  @Override
  public boolean holds(HeadRow row, Append append) throws SQLException {
    return holds(row.segment(), append);
  }

  @Override
  public void addEntry(HeadRow row, Entry entry) throws SQLException {
    addEntry(row.segment(), row.head().shard(), row.head().generation(), entry);
    flushEntries();
  }

  /** Whether the entry of this number was written by {@code append}'s batch. */
  boolean holds(long segment, Append append) throws SQLException {
    counters.journalReads.increment();
    PreparedStatement select =
        session.statement("select batch from entries where segment = ? and number = ?");
    select.setLong(1, segment);
    select.setLong(2, append.number());
    try (ResultSet rows = select.executeQuery()) {
      return rows.next() && rows.getLong(1) == append.batch();
    }
  }

  /** Puts an entry into the batch that {@link #flushEntries()} writes. */
  void addEntry(long segment, ShardId shard, int generation, Entry entry) throws SQLException {
    PreparedStatement insert = insertEntry();
    insert.setLong(1, segment);
    insert.setLong(2, entry.number());
    insert.setLong(3, entry.epoch());
    insert.setLong(4, entry.batch());
    insert.setLong(
        5,
        checksum.entry(
            shard, generation, entry.number(), entry.epoch(), entry.batch(), entry.data()));
    insert.setBytes(6, entry.data());
    insert.addBatch();
  }

  void flushEntries() throws SQLException {
    insertEntry().executeBatch();
  }

  private PreparedStatement insertEntry() throws SQLException {
    return session.statement(
        "insert into entries(segment, number, epoch, batch, crc, data) values (?, ?, ?, ?, ?, ?)");
  }

  /**
   * Entries in order while they fit, but at least one.
   *
   * @return whether that was all there is
   * @throws DamageException if one of them is damaged, or some that should be there are not
   */
  boolean read(EntryRange range, List<Entry> into) throws SQLException {
    counters.journalReads.increment();
    PreparedStatement select =
        session.statement(
            "select number, epoch, batch, crc, length(data), data from entries"
                + " where segment = ? and number >= ? order by number");
    select.setLong(1, range.segment());
    select.setLong(2, range.from());
    long expected = range.from();
    long bytes = 0;
    try (ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        bytes += rows.getLong(5);
        if (bytes > range.maxBytes() && !into.isEmpty()) {
          return false;
        }
        into.add(entry(rows, range, expected++));
      }
    }
    if (expected <= range.tail()) {
      throw DamageException.ofEntry(range.shard(), range.generation(), expected, "missing");
    }
    return true;
  }

  /**
   * Which entries to read.
   *
   * @param tail the last one that must be there
   */
  record EntryRange(
      ShardId shard, int generation, long segment, long tail, long from, int maxBytes) {}

  private Entry entry(ResultSet rows, EntryRange range, long expected) throws SQLException {
    Entry entry = new Entry(rows.getLong(1), rows.getLong(2), rows.getLong(3), bytes(rows, 6));
    long wanted =
        checksum.entry(
            range.shard(),
            range.generation(),
            entry.number(),
            entry.epoch(),
            entry.batch(),
            entry.data());
    if (entry.number() != expected) {
      throw DamageException.ofEntry(
          range.shard(), range.generation(), expected, "missing, found " + entry.number());
    }
    if (wanted != rows.getLong(4)) {
      throw DamageException.ofEntry(range.shard(), range.generation(), expected, "wrong checksum");
    }
    return entry;
  }

  /**
   * Removes some entries of a segment.
   *
   * @return how many; 0 when there are none left
   */
  int removeEntries(long segment, int maxEntries, long maxBytes) throws SQLException {
    PreparedStatement select =
        session.statement(
            "select number, length(data) from entries where segment = ? order by number limit ?");
    select.setLong(1, segment);
    select.setInt(2, maxEntries);
    long last = 0;
    long bytes = 0;
    try (ResultSet rows = select.executeQuery()) {
      while (bytes < maxBytes && rows.next()) {
        last = rows.getLong(1);
        bytes += rows.getLong(2);
      }
    }
    return removeRange(segment, 0, last);
  }

  /** Removes the entries after {@code from} up to {@code to}; answers how many. */
  int removeRange(long segment, long from, long to) throws SQLException {
    PreparedStatement delete =
        session.statement("delete from entries where segment = ? and number > ? and number <= ?");
    delete.setLong(1, segment);
    delete.setLong(2, from);
    delete.setLong(3, to);
    return delete.executeUpdate();
  }

  /** What is remembered of a writer, all zero for an unknown one. */
  WriterRow writer(long writer) throws SQLException {
    PreparedStatement select =
        session.statement("select created, resolved, crc from writers where writer = ?");
    select.setLong(1, writer);
    try (ResultSet rows = select.executeQuery()) {
      if (!rows.next()) {
        return new WriterRow(writer, 0, 0);
      }
      WriterRow row = new WriterRow(writer, rows.getInt(1), rows.getLong(2));
      if (crc(row) != rows.getLong(3)) {
        throw new DamageException("writer " + Long.toHexString(writer) + ": wrong checksum");
      }
      return row;
    }
  }

  /**
   * What outlives a writer's shards and records.
   *
   * @param created the highest sequence of a shard it created
   * @param resolved the highest sequence of a change that was resolved
   */
  record WriterRow(long writer, int created, long resolved) {}

  private long crc(WriterRow row) {
    checksum.begin().putLong(row.writer).putInt(row.created).putLong(row.resolved);
    return checksum.end();
  }

  void put(WriterRow row) throws SQLException {
    PreparedStatement put =
        session.statement(
            "insert into writers(writer, created, resolved, crc) values (?, ?, ?, ?)"
                + " on conflict(writer) do update set created = excluded.created,"
                + " resolved = excluded.resolved, crc = excluded.crc");
    put.setLong(1, row.writer());
    put.setInt(2, row.created());
    put.setLong(3, row.resolved());
    put.setLong(4, crc(row));
    mustChangeOne(put);
  }

  static byte[] bytes(ResultSet rows, int column) throws SQLException {
    byte[] bytes = rows.getBytes(column);
    return bytes == null ? new byte[0] : bytes;
  }

  private static void mustChangeOne(PreparedStatement statement) throws SQLException {
    int changed = statement.executeUpdate();
    if (changed != 1) {
      throw new SQLException("rows changed: " + changed + " (expected: 1)");
    }
  }
}
