package dev.carillon.store.postgres;

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
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the journals' tables of one cluster, each with its checksum: made when it is written,
 * compared when it is read. Belongs to one {@link Session} and its thread.
 */
final class Tables implements JournalTables<HeadRow> {

  private static final String HEAD_COLUMNS =
      "select shard, epoch, owner, suspect, status, generation, oldest, segment, period, base,"
          + " tail, wake, home, crc, summary from $.heads ";
  private static final String UPDATE_HEAD =
      "update $.heads set shard = ?, epoch = ?, owner = ?, suspect = ?, status = ?,"
          + " generation = ?, oldest = ?, segment = ?, period = ?, base = ?, tail = ?,"
          + " wake = ?, home = ?, crc = ?, summary = ? where cluster = ? and shard = ?";
  private static final String SEGMENT_COLUMNS =
      "select key, generation, snapshot, state, period, first, last, crc from $.segments ";

  /** How many entries a page has at most, so that small entries do not make it endless. */
  private static final int PAGE_ENTRIES = 1_000;

  private final Session session;
  private final int cluster;
  private final Checksum checksum = new Checksum();

  Tables(Session session, int cluster) {
    this.session = session;
    this.cluster = cluster;
  }

  Session session() {
    return session;
  }

  /** The checksum of a mark that only rises: who, and how far. */
  static long mark(long who, long highest) {
    Checksum checksum = new Checksum();
    checksum.begin().putLong(who).putLong(highest);
    return checksum.end();
  }

  /** The table of the entries of a period. */
  static String entries(int cluster, int period) {
    return "$.entries_" + cluster + "_" + period;
  }

  private String entries(int period) {
    return entries(cluster, period);
  }

  @Override
  public @Nullable HeadRow head(ShardId shard) throws SQLException {
    return head(shard, "");
  }

  @Override
  public @Nullable HeadRow lockHead(ShardId shard) throws SQLException {
    return head(shard, " for no key update");
  }

  private @Nullable HeadRow head(ShardId shard, String lock) throws SQLException {
    try (PreparedStatement select =
        session.statement(HEAD_COLUMNS + "where cluster = ? and shard = ?" + lock)) {
      select.setInt(1, cluster);
      select.setString(2, shard.toString());
      List<HeadRow> found = heads(select);
      return found.isEmpty() ? null : found.getFirst();
    }
  }

  /** Locks the heads of several shards, in an order that all who do so share. */
  void lockHeads(List<String> shards) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select shard from $.heads where cluster = ? and shard = any(?) order by shard"
                + " for no key update")) {
      select.setInt(1, cluster);
      session.setTexts(select, 2, shards);
      select.executeQuery().close();
    }
  }

  /** Reads the heads of several shards as {@link #lockHead} does; those that are there. */
  Map<ShardId, HeadRow> lockHeads(Collection<ShardId> shards) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            HEAD_COLUMNS
                + "where cluster = ? and shard = any(?) order by shard for no key update")) {
      select.setInt(1, cluster);
      session.setTexts(select, 2, shards.stream().map(ShardId::toString).toList());
      Map<ShardId, HeadRow> found = new HashMap<>();
      heads(select).forEach(row -> found.put(row.head().shard(), row));
      return found;
    }
  }

  @Override
  public List<HeadRow> headsByWake(long beforeMicros, @Nullable Head after, int limit)
      throws SQLException {
    try (PreparedStatement select =
        session.statement(
            HEAD_COLUMNS
                + "where cluster = ? and (wake, shard) > (?, ?) and wake < ?"
                + " order by wake, shard limit ?")) {
      select.setInt(1, cluster);
      select.setLong(2, after == null ? Long.MIN_VALUE : after.wakeMicros());
      select.setString(3, after == null ? "" : after.shard().toString());
      select.setLong(4, beforeMicros);
      select.setInt(5, Math.max(limit, 0));
      return heads(select);
    }
  }

  @Override
  public List<HeadRow> headsById(@Nullable ShardId after, int limit) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            HEAD_COLUMNS + "where cluster = ? and shard > ? order by shard limit ?")) {
      select.setInt(1, cluster);
      select.setString(2, after == null ? "" : after.toString());
      select.setInt(3, Math.max(limit, 0));
      return heads(select);
    }
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
    String shard = rows.getString(1);
    byte[] home = rows.getBytes(13);
    HeadRow row;
    try {
      row =
          new HeadRow(
              new Head(
                  ShardId.parse(shard),
                  rows.getLong(2),
                  rows.getLong(3),
                  rows.getBoolean(4),
                  Status.ofCode(rows.getInt(5)),
                  rows.getInt(6),
                  rows.getInt(7),
                  rows.getLong(12),
                  new String(home, StandardCharsets.UTF_8),
                  rows.getBytes(15)),
              rows.getLong(8),
              rows.getInt(9),
              rows.getLong(10),
              rows.getLong(11));
    } catch (IllegalArgumentException e) {
      throw new DamageException("head of shard " + shard + ": " + e.getMessage());
    }
    if (row.crc(checksum, home) != rows.getLong(14)) {
      throw new DamageException("head of shard " + shard + ": wrong checksum");
    }
    return row;
  }

  /**
   * Makes a shard in one statement, if its maker has not yet made it or a later one, and if the
   * period is still there.
   *
   * @return whether it was made
   */
  boolean create(HeadRow row, Segment segment) throws SQLException {
    ShardId shard = row.head().shard();
    try (PreparedStatement create =
        session.statement(
            "with p as materialized (select 1 from $.periods where cluster = ? and period = ?"
                + " for share),"
                + " m as (insert into $.makers(cluster, maker, created, crc)"
                + " select ?, ?, ?, ? from p"
                + " on conflict (cluster, maker) do update"
                + " set created = excluded.created, crc = excluded.crc"
                + " where makers.created < excluded.created returning 1),"
                + " s as (insert into $.segments(cluster, shard, key, generation, snapshot, state,"
                + " period, first, last, crc) select ?, ?, ?, ?, ?, ?, ?, ?, ?, ? from m)"
                + " insert into $.heads(shard, epoch, owner, suspect, status, generation, oldest,"
                + " segment, period, base, tail, wake, home, crc, summary, cluster)"
                + " select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? from m")) {
      create.setInt(1, cluster);
      create.setInt(2, segment.period());
      create.setInt(3, cluster);
      create.setLong(4, shard.incarnation());
      create.setInt(5, shard.sequence());
      create.setLong(6, mark(shard.incarnation(), shard.sequence()));
      int next = set(create, 7, shard, segment);
      set(create, next, row);
      return create.executeUpdate() == 1;
    }
  }

  /** The highest sequence of a shard that {@code maker} has made. */
  int created(long maker) throws SQLException {
    try (PreparedStatement select =
        session.statement("select created, crc from $.makers where cluster = ? and maker = ?")) {
      select.setInt(1, cluster);
      select.setLong(2, maker);
      try (ResultSet rows = select.executeQuery()) {
        if (!rows.next()) {
          return 0;
        }
        int created = rows.getInt(1);
        if (mark(maker, created) != rows.getLong(2)) {
          throw new DamageException("maker " + Long.toHexString(maker) + ": wrong checksum");
        }
        return created;
      }
    }
  }

  @Override
  public void update(HeadRow row) throws SQLException {
    try (PreparedStatement update = session.statement(UPDATE_HEAD)) {
      int next = set(update, 1, row);
      update.setString(next, row.head().shard().toString());
      Session.mustChangeOne(update);
    }
  }

  /** Updates several, in few round trips. */
  void updateAll(List<HeadRow> rows) throws SQLException {
    try (PreparedStatement update = session.statement(UPDATE_HEAD)) {
      for (HeadRow row : rows) {
        int next = set(update, 1, row);
        update.setString(next, row.head().shard().toString());
        update.addBatch();
      }
      for (int changed : update.executeBatch()) {
        if (changed != 1) {
          throw new SQLException("heads changed: " + changed + " (expected: 1 each)", "55000");
        }
      }
    }
  }

  private int set(PreparedStatement statement, int from, HeadRow row) throws SQLException {
    Head head = row.head();
    byte[] home = head.home().getBytes(StandardCharsets.UTF_8);
    int next = from;
    statement.setString(next++, head.shard().toString());
    statement.setLong(next++, head.epoch());
    statement.setLong(next++, head.owner());
    statement.setBoolean(next++, head.suspect());
    statement.setInt(next++, head.status().code());
    statement.setInt(next++, head.generation());
    statement.setInt(next++, head.oldestGeneration());
    statement.setLong(next++, row.segment());
    statement.setInt(next++, row.period());
    statement.setLong(next++, row.base());
    statement.setLong(next++, row.tail());
    statement.setLong(next++, head.wakeMicros());
    statement.setBytes(next++, home);
    statement.setLong(next++, row.crc(checksum, home));
    statement.setBytes(next++, head.summary());
    statement.setInt(next++, cluster);
    return next;
  }

  private int set(PreparedStatement statement, int from, ShardId shard, Segment segment)
      throws SQLException {
    int next = from;
    statement.setInt(next++, cluster);
    statement.setString(next++, shard.toString());
    statement.setLong(next++, segment.key());
    statement.setInt(next++, segment.generation());
    statement.setLong(next++, segment.snapshot());
    statement.setInt(next++, segment.state().code());
    statement.setInt(next++, segment.period());
    statement.setLong(next++, segment.first());
    statement.setLong(next++, segment.last());
    statement.setLong(next++, segment.crc(checksum, shard));
    return next;
  }

  @Override
  public void removeGenerations(HeadRow row, int oldest) throws SQLException {
    for (Segment segment : segments(row.head().shard())) {
      if (segment.generation() < oldest) {
        remove(segment);
      }
    }
  }

  @Override
  public void removeHead(HeadRow row) throws SQLException {
    removeGenerations(row, Integer.MAX_VALUE);
    try (PreparedStatement delete =
        session.statement("delete from $.heads where cluster = ? and shard = ?")) {
      delete.setInt(1, cluster);
      delete.setString(2, row.head().shard().toString());
      Session.mustChangeOne(delete);
    }
  }

  /** Adds a segment, and sees to it that its period stays. */
  void add(ShardId shard, Segment segment) throws SQLException {
    try (PreparedStatement insert =
        session.statement(
            "with p as materialized (select 1 from $.periods where cluster = ? and period = ?"
                + " for share) insert into $.segments(cluster, shard, key, generation, snapshot,"
                + " state, period, first, last, crc) select ?, ?, ?, ?, ?, ?, ?, ?, ?, ? from p")) {
      insert.setInt(1, cluster);
      insert.setInt(2, segment.period());
      set(insert, 3, shard, segment);
      if (insert.executeUpdate() != 1) {
        throw dropped(segment.period());
      }
    }
  }

  /** Keeps a period from being dropped until this transaction ends. */
  void keep(int period) throws SQLException {
    try (PreparedStatement lock =
        session.statement("select 1 from $.periods where cluster = ? and period = ? for share")) {
      lock.setInt(1, cluster);
      lock.setInt(2, period);
      try (ResultSet rows = lock.executeQuery()) {
        if (!rows.next()) {
          throw dropped(period);
        }
      }
    }
  }

  private static SQLException dropped(int period) {
    return new SQLException("period " + period + " was dropped", Failure.NO_TABLE_STATE);
  }

  void update(ShardId shard, Segment segment) throws SQLException {
    try (PreparedStatement update =
        session.statement(
            "update $.segments set cluster = ?, shard = ?, key = ?, generation = ?, snapshot = ?,"
                + " state = ?, period = ?, first = ?, last = ?, crc = ? where key = ?")) {
      int next = set(update, 1, shard, segment);
      update.setLong(next, segment.key());
      Session.mustChangeOne(update);
    }
  }

  /** Forgets a segment; its entries go with their table. */
  void remove(Segment segment) throws SQLException {
    try (PreparedStatement delete = session.statement("delete from $.segments where key = ?")) {
      delete.setLong(1, segment.key());
      Session.mustChangeOne(delete);
    }
  }

  /** All segments of a shard, by generation and number. */
  List<Segment> segments(ShardId shard) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            SEGMENT_COLUMNS
                + "where cluster = ? and shard = ? order by generation, state, first, key")) {
      select.setInt(1, cluster);
      select.setString(2, shard.toString());
      try (ResultSet rows = select.executeQuery()) {
        List<Segment> found = new ArrayList<>();
        while (rows.next()) {
          found.add(segment(shard, rows));
        }
        return found;
      }
    }
  }

  private Segment segment(ShardId shard, ResultSet rows) throws SQLException {
    Segment segment =
        new Segment(
            rows.getLong(1),
            rows.getInt(2),
            rows.getLong(3),
            Segment.State.ofCode(rows.getInt(4)),
            rows.getInt(5),
            rows.getLong(6),
            rows.getLong(7));
    if (segment.crc(checksum, shard) != rows.getLong(8)) {
      throw new DamageException(
          "shard " + shard + ", segment " + segment.key() + ": wrong checksum");
    }
    return segment;
  }

  @Nullable Segment staged(ShardId shard) throws SQLException {
    for (Segment segment : segments(shard)) {
      if (segment.state() == Segment.State.STAGED) {
        return segment;
      }
    }
    return null;
  }

  /** The segments of a generation that is kept, by number. */
  List<Segment> live(ShardId shard, int generation) throws SQLException {
    List<Segment> live =
        segments(shard).stream()
            .filter(segment -> segment.generation() == generation)
            .filter(segment -> segment.state() == Segment.State.LIVE)
            .toList();
    if (live.isEmpty()) {
      throw new DamageException("shard " + shard + ", generation " + generation + ": missing");
    }
    return live;
  }

  /** The segment that takes appends. */
  Segment current(HeadRow row) throws SQLException {
    return live(row.head().shard(), row.head().generation()).stream()
        .filter(segment -> segment.key() == row.segment())
        .findFirst()
        .orElseThrow(
            () -> new DamageException("shard " + row.head().shard() + ": its segment is missing"));
  }

  @Override
  public long tail(HeadRow row) throws SQLException {
    return tail(row, highest(row.segment(), row.period()));
  }

  /** The numbers of the last entries of several shards, by the segment that takes appends. */
  Map<Long, Long> tails(Collection<HeadRow> rows) throws SQLException {
    Map<Integer, List<HeadRow>> byPeriod =
        rows.stream().collect(Collectors.groupingBy(HeadRow::period));
    Map<Long, Long> tails = new HashMap<>();
    for (Map.Entry<Integer, List<HeadRow>> each : byPeriod.entrySet()) {
      long[] segments = each.getValue().stream().mapToLong(HeadRow::segment).toArray();
      Map<Long, Long> highest = highest(segments, each.getKey());
      for (HeadRow row : each.getValue()) {
        tails.put(row.segment(), tail(row, highest.getOrDefault(row.segment(), 0L)));
      }
    }
    return tails;
  }

  private Map<Long, Long> highest(long[] segments, int period) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select s.key, (select coalesce(max(number), 0) from "
                + entries(period)
                + " where segment = s.key) from unnest(?) s(key)")) {
      session.setLongs(select, 1, segments);
      Map<Long, Long> highest = new HashMap<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          highest.put(rows.getLong(1), rows.getLong(2));
        }
      }
      return highest;
    }
  }

  private static long tail(HeadRow row, long highest) {
    long tail = Math.max(row.base(), highest);
    if (tail < row.tail()) {
      throw DamageException.ofEntry(
          row.head().shard(), row.head().generation(), row.tail(), "missing");
    }
    return tail;
  }

  /** The highest number in a segment, 0 for an empty one. */
  long highest(long segment, int period) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select coalesce(max(number), 0) from " + entries(period) + " where segment = ?")) {
      select.setLong(1, segment);
      try (ResultSet rows = select.executeQuery()) {
        return rows.next() ? rows.getLong(1) : 0;
      }
    }
  }

  @Override
  public boolean holds(HeadRow row, Append append) throws SQLException {
    for (Segment segment : live(row.head().shard(), row.head().generation())) {
      boolean reaches = segment.key() == row.segment() || append.number() <= segment.last();
      if (append.number() >= segment.first() && reaches) {
        return batch(segment, append.number()) == append.batch();
      }
    }
    return false;
  }

  private long batch(Segment segment, long number) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select batch from "
                + entries(segment.period())
                + " where segment = ? and number = ?")) {
      select.setLong(1, segment.key());
      select.setLong(2, number);
      try (ResultSet rows = select.executeQuery()) {
        return rows.next() ? rows.getLong(1) : 0;
      }
    }
  }

  @Override
  public void addEntry(HeadRow row, Entry entry) throws SQLException {
    addEntries(row.head().shard(), current(row), List.of(entry));
  }

  /** Puts entries into a segment whose head is locked. */
  void addEntries(ShardId shard, Segment segment, List<Entry> entries) throws SQLException {
    EntryBatch batch = new EntryBatch(entries.size());
    for (Entry entry : entries) {
      batch.add(segment.key(), crc(shard, segment.generation(), entry), entry);
    }
    batch.insert(session, entries(segment.period()));
  }

  long crc(ShardId shard, int generation, Entry entry) {
    return checksum.entry(
        shard, generation, entry.number(), entry.epoch(), entry.batch(), entry.data());
  }

  /** Removes the entries of a staged segment behind {@code last}. */
  void trim(Segment segment, long last) throws SQLException {
    try (PreparedStatement delete =
        session.statement(
            "delete from " + entries(segment.period()) + " where segment = ? and number > ?")) {
      delete.setLong(1, segment.key());
      delete.setLong(2, last);
      delete.executeUpdate();
    }
  }

  /**
   * Reads entries of a segment.
   *
   * @return whether there are no more in the range
   */
  boolean read(ShardId shard, Segment segment, Range range, List<Entry> into) throws SQLException {
    // Lengths are known without reading data. The first entry that does not fit comes without.
    try (PreparedStatement select =
        session.statement(
            "select number, epoch, batch, crc, case when sum <= ? or (? and number = ?) then data"
                + " end from (select *, sum(octet_length(data)) over (order by number) as sum"
                + " from (select * from "
                + entries(segment.period())
                + " where segment = ? and number between ? and ? order by number limit ?) page)"
                + " summed where sum - octet_length(data) <= ? or number = ? order by number")) {
      select.setLong(1, range.maxBytes());
      select.setBoolean(2, into.isEmpty());
      select.setLong(3, range.from());
      select.setLong(4, segment.key());
      select.setLong(5, range.from());
      select.setLong(6, range.last());
      select.setInt(7, PAGE_ENTRIES);
      select.setLong(8, range.maxBytes());
      select.setLong(9, range.from() + 1);
      try (ResultSet rows = select.executeQuery()) {
        return read(shard, segment, range, rows, into);
      }
    }
  }

  /**
   * Which entries of a segment.
   *
   * @param from the first number
   * @param last the last number, {@link Long#MAX_VALUE} where it is not known
   * @param maxBytes as many as fit these, but at least one in a page
   */
  record Range(long from, long last, long maxBytes) {}

  private boolean read(
      ShardId shard, Segment segment, Range range, ResultSet rows, List<Entry> into)
      throws SQLException {
    long next = range.from();
    int count = 0;
    while (rows.next()) {
      byte[] data = rows.getBytes(5);
      if (data == null) {
        return false;
      }
      into.add(entry(shard, segment.generation(), next, rows, data));
      next++;
      count++;
    }
    if (count == PAGE_ENTRIES) {
      return next > range.last();
    }
    if (range.last() != Long.MAX_VALUE && next <= range.last()) {
      throw DamageException.ofEntry(shard, segment.generation(), next, "missing");
    }
    return true;
  }

  private Entry entry(ShardId shard, int generation, long expected, ResultSet rows, byte[] data)
      throws SQLException {
    Entry entry = new Entry(rows.getLong(1), rows.getLong(2), rows.getLong(3), data);
    if (entry.number() != expected) {
      throw DamageException.ofEntry(shard, generation, expected, "missing");
    }
    if (crc(shard, generation, entry) != rows.getLong(4)) {
      throw DamageException.ofEntry(shard, generation, expected, "wrong checksum");
    }
    return entry;
  }
}
