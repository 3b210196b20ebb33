package dev.carillon.store.postgres;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.postgres.Database.UndoneException;
import dev.carillon.store.postgres.Positions.Position;
import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.DamageException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@code append}.
 *
 * <p><b>At once.</b> Entries whose place is known from the {@link Positions} go in one statement
 * that commits by itself, one way to the server and back for the whole group: it locks the heads in
 * share mode, so that no claim can overtake it, compares the epochs after the lock, and inserts the
 * entries whose predecessor is there. The unique key (segment, number) decides between two writers
 * of one number. No row is updated, so an append leaves nothing behind to be vacuumed.
 *
 * <p><b>With a look.</b> What that statement did not write, and what cannot be written without
 * reading (a wake time to be raised, a table that has been followed by another, what rides along an
 * entry), is done in a transaction that locks the heads for itself, looks at each entry in turn and
 * so has the true reason of each refusal.
 */
final class AppendGroup {

  /** More than this is written with limits of time of its own. */
  private static final long MAX_BYTES_AT_ONCE = 4 << 20;

  private final Cluster cluster;
  private final StoreInfo info;
  private final List<Append> group;
  private final List<Rider> riders;
  private final boolean allOrNothing;
  private final long groupBytes;
  private final @Nullable Outcome<Long>[] outcomes;
  private final Checksum checksum = new Checksum();

  /** What is known of the shards, as it was when this began. */
  private final Map<ShardId, Position> positions = new HashMap<>();

  private final int period;

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array is the plain way to fill in any order
  AppendGroup(
      Cluster cluster,
      StoreInfo info,
      List<Append> group,
      List<Rider> riders,
      boolean allOrNothing) {
    this.cluster = cluster;
    this.info = info;
    this.group = group;
    this.riders = riders;
    this.allOrNothing = allOrNothing;
    this.outcomes = new Outcome[group.size()];
    long sum = 0;
    for (Append append : group) {
      sum += append.data().length;
    }
    this.groupBytes = sum;
    this.period = cluster.newest().get();
  }

  List<Outcome<Long>> run() {
    if (groupBytes > info.maxGroupBytes()) {
      Arrays.fill(outcomes, new Outcome.TooLarge<Long>(info.maxGroupBytes()));
    } else {
      List<Integer> known = known();
      if (!known.isEmpty()) {
        writeAtOnce(known);
      }
      List<Integer> rest = unanswered();
      if (!rest.isEmpty()) {
        writeWithLook(rest);
      }
    }
    return answers();
  }

  private List<Outcome<Long>> answers() {
    List<Outcome<Long>> answers = new ArrayList<>(outcomes.length);
    for (Outcome<Long> outcome : outcomes) {
      answers.add(Objects.requireNonNull(outcome));
    }
    return answers;
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

  /** The entries whose place is known: all or none of a shard, and of the group if it is one. */
  private List<Integer> known() {
    Set<ShardId> unknown = new HashSet<>();
    Map<ShardId, Long> numbers = new HashMap<>();
    for (int i = 0; i < group.size(); i++) {
      Append append = group.get(i);
      Position position = cluster.positions().get(append.shard());
      Long before = numbers.put(append.shard(), append.number());
      if (position == null
          || position.period() != period
          || position.epoch() != append.epoch()
          || position.generation() != append.generation()
          || (before != null && append.number() != before + 1)
          || append.raiseWakeMicros() != Append.KEEP_WAKE
          || !riders.get(i).isNone()
          || append.data().length > info.maxEntryBytes()) {
        unknown.add(append.shard());
      } else {
        positions.put(append.shard(), position);
      }
    }
    if (groupBytes > MAX_BYTES_AT_ONCE || (allOrNothing && !unknown.isEmpty())) {
      return List.of();
    }
    List<Integer> known = new ArrayList<>(group.size());
    for (int i = 0; i < group.size(); i++) {
      if (!unknown.contains(group.get(i).shard())) {
        known.add(i);
      }
    }
    return known;
  }

  private void writeAtOnce(List<Integer> known) {
    Outcome<Set<Place>> outcome;
    try {
      outcome = cluster.database().writeAtOnce(session -> Outcome.ok(insertAtOnce(session, known)));
    } catch (UndoneException e) {
      forget(known);
      return;
    }
    for (int index : known) {
      Append append = group.get(index);
      if (!outcome.isOk()) {
        outcomes[index] = outcome.map(ok -> 0L);
      } else if (allOrNothing || outcome.orThrow().contains(place(append))) {
        outcomes[index] = Outcome.ok(append.number());
      }
    }
  }

  private void forget(List<Integer> indexes) {
    indexes.forEach(index -> cluster.positions().remove(group.get(index).shard()));
  }

  /** Where an entry is. */
  private record Place(long segment, long number) {}

  private Place place(Append append) {
    return new Place(
        Objects.requireNonNull(positions.get(append.shard())).segment(), append.number());
  }

  /** What follows the insert {@code i}: the places, or all of them or none. */
  private static String answer(boolean allOrNothing) {
    return allOrNothing
        // Undoes itself by an error, there being no other way to undo from within.
        ? "select 1 / (count(*) = ?)::int, 0 from i"
        : "select segment, number from i";
  }

  private static String atOnce(String table) {
    return """
    with h as materialized (
      select shard, segment, epoch, base from $.heads where cluster = ? and shard = any(?)
      order by shard for share),
    r as materialized (
      select r.segment from unnest(?::text[], ?::int8[], ?::int8[], ?::int8[])
        as r(shard, segment, epoch, first)
      join h on h.shard = r.shard and h.segment = r.segment and h.epoch = r.epoch
      where (r.first = h.base + 1
          or exists (select 1 from TABLE e where e.segment = r.segment and e.number = r.first - 1))
        and not exists (select 1 from TABLE e where e.segment = r.segment and e.number = r.first)
        and exists (select 1 from $.clusters c where c.id = ? and c.incarnation = ?)),
    a as materialized (
      select * from unnest(?::int8[], ?::int8[], ?::int8[], ?::int8[], ?::int8[], ?::bytea[])
        as a(segment, number, epoch, batch, crc, data)),
    i as (
      insert into TABLE(segment, number, epoch, batch, crc, data)
      select a.segment, a.number, a.epoch, a.batch, a.crc, a.data
      from a join r on r.segment = a.segment
      order by a.segment, a.number
      on conflict do nothing
      returning segment, number)
    """
        .replace("TABLE", table);
  }

  private Set<Place> insertAtOnce(Session session, List<Integer> known) throws SQLException {
    Map<ShardId, Run> runs = new LinkedHashMap<>();
    for (int index : known) {
      Append append = group.get(index);
      runs.computeIfAbsent(append.shard(), shard -> run(append));
    }
    return known.size() <= FewEntries.MAX && runs.size() == known.size()
        ? insertFew(session, known, runs)
        : insertMany(session, known, runs);
  }

  /** In the order of segments, which is that of the other way too. */
  private Set<Place> insertFew(Session session, List<Integer> known, Map<ShardId, Run> runs)
      throws SQLException {
    FewEntries few = new FewEntries(cluster);
    known.stream()
        .map(group::get)
        .sorted(Comparator.comparingLong(append -> place(append).segment()))
        .forEach(append -> add(few, append, Objects.requireNonNull(runs.get(append.shard()))));
    String text = FewEntries.text(Tables.entries(cluster.id(), period), known.size());
    try (PreparedStatement insert = session.statement(text + answer(allOrNothing))) {
      return places(insert, few.set(insert), known.size());
    }
  }

  private void add(FewEntries few, Append append, Run run) {
    few.add(run.shard, run.segment, crc(append), entry(append));
  }

  private Set<Place> insertMany(Session session, List<Integer> known, Map<ShardId, Run> runs)
      throws SQLException {
    EntryBatch batch = new EntryBatch(known.size());
    for (int index : known) {
      Append append = group.get(index);
      batch.add(place(append).segment(), crc(append), entry(append));
    }
    String text = atOnce(Tables.entries(cluster.id(), period));
    try (PreparedStatement insert = session.statement(text + answer(allOrNothing))) {
      int next = set(session, insert, List.copyOf(runs.values()));
      insert.setInt(next++, cluster.id());
      insert.setString(next++, cluster.identity().own());
      return places(insert, batch.set(session, insert, next), known.size());
    }
  }

  private int set(Session session, PreparedStatement insert, List<Run> runs) throws SQLException {
    List<String> shards = runs.stream().map(Run::shard).toList();
    insert.setInt(1, cluster.id());
    session.setTexts(insert, 2, shards);
    session.setTexts(insert, 3, shards);
    session.setLongs(insert, 4, runs.stream().mapToLong(Run::segment).toArray());
    session.setLongs(insert, 5, runs.stream().mapToLong(Run::epoch).toArray());
    session.setLongs(insert, 6, runs.stream().mapToLong(Run::first).toArray());
    return 7;
  }

  /** Consecutive entries of one shard in this group: the first one needs its predecessor. */
  private record Run(String shard, long segment, long epoch, long first) {}

  private Run run(Append append) {
    return new Run(
        append.shard().toString(), place(append).segment(), append.epoch(), append.number());
  }

  private Set<Place> places(PreparedStatement insert, int next, int expected) throws SQLException {
    if (allOrNothing) {
      insert.setInt(next, expected);
    }
    Set<Place> places = new HashSet<>();
    try (ResultSet rows = insert.executeQuery()) {
      while (rows.next()) {
        places.add(new Place(rows.getLong(1), rows.getLong(2)));
      }
    }
    return places;
  }

  private static Entry entry(Append append) {
    return new Entry(append.number(), append.epoch(), append.batch(), append.data());
  }

  private long crc(Append append) {
    return checksum.entry(
        append.shard(),
        append.generation(),
        append.number(),
        append.epoch(),
        append.batch(),
        append.data());
  }

  private void writeWithLook(List<Integer> rest) {
    Look[] last = new Look[1];
    Outcome<Boolean> outcome =
        cluster
            .database()
            .write(
                groupBytes,
                session -> {
                  Look look = new Look(cluster.tables(session));
                  last[0] = look;
                  cluster.identity().verify(session);
                  return Outcome.ok(look.write(rest));
                });
    Look look = last[0];
    if (look != null && outcome.isOk()) {
      look.rows.values().forEach(cluster.positions()::put);
    }
    for (int index : rest) {
      Outcome<Long> own = look == null ? null : look.answers.get(index);
      // What was refused for a reason of its own keeps that.
      boolean kept = own != null && (outcome.isOk() || (!own.isOk() && look != null && look.done));
      outcomes[index] = kept ? own : outcome.map(ok -> 0L);
    }
  }

  /** One look at the heads, under a lock. */
  private final class Look {
    private final Tables tables;
    private final Map<ShardId, HeadRow> rows = new HashMap<>();
    private final Map<ShardId, Long> tails = new HashMap<>();
    private final Map<Integer, Outcome<Long>> answers = new TreeMap<>();
    private final Map<ShardId, List<Append>> fitting = new LinkedHashMap<>();
    private final RiderWriter riding;
    private boolean done;

    Look(Tables tables) {
      this.tables = tables;
      this.riding = new RiderWriter(tables.session(), cluster.id());
    }

    boolean write(List<Integer> indexes) throws SQLException {
      tables.lockHeads(
          indexes.stream().map(index -> group.get(index).shard().toString()).distinct().toList());
      riding.lock(indexes.stream().map(riders::get).toList());
      boolean refused = false;
      for (int index : indexes) {
        Outcome<Long> outcome = look(group.get(index), riders.get(index));
        answers.put(index, outcome);
        refused |= !outcome.isOk();
      }
      done = true;
      if (refused && allOrNothing) {
        takeBack();
      } else {
        for (Map.Entry<ShardId, List<Append>> entry : fitting.entrySet()) {
          writeFitting(entry.getKey(), entry.getValue());
        }
        riding.write();
      }
      return true;
    }

    private void takeBack() {
      answers.replaceAll(
          (index, outcome) ->
              outcome.isOk()
                  ? new Outcome.Unavailable<>("another append of the group was refused")
                  : outcome);
    }

    private Outcome<Long> look(Append append, Rider rider) throws SQLException {
      if (append.data().length > info.maxEntryBytes()) {
        return new Outcome.TooLarge<>(info.maxEntryBytes());
      }
      HeadRow row;
      try {
        row = row(append.shard());
      } catch (DamageException e) {
        return new Outcome.Damaged<>(e.where());
      }
      if (row == null) {
        return new Outcome.Fenced<>(Head.DROPPED);
      }
      if (row.head().epoch() != append.epoch()) {
        return new Outcome.Fenced<>(row.head().epoch());
      }
      long tail = tails.getOrDefault(append.shard(), 0L);
      if (row.head().generation() != append.generation()) {
        return new Outcome.Conflict<>(tail);
      }
      if (append.number() != tail + 1) {
        return holds(row, tail, append)
            ? Outcome.ok(append.number())
            : new Outcome.Conflict<>(tail);
      }
      if (!riding.take(rider)) {
        return new Outcome.Unavailable<>("rows of the inbox are gone: others have taken them");
      }
      tails.put(append.shard(), append.number());
      fitting.computeIfAbsent(append.shard(), shard -> new ArrayList<>()).add(append);
      return Outcome.ok(append.number());
    }

    private @Nullable HeadRow row(ShardId shard) throws SQLException {
      HeadRow known = rows.get(shard);
      if (known != null) {
        return known;
      }
      HeadRow row = tables.head(shard);
      if (row != null) {
        tails.put(shard, tables.tail(row));
        rows.put(shard, row);
      }
      return row;
    }

    /** Whether an entry is there already, in the database or in this group. */
    private boolean holds(HeadRow row, long tail, Append append) throws SQLException {
      if (append.number() < 1 || append.number() > tail) {
        return false;
      }
      for (Append other : fitting.getOrDefault(append.shard(), List.of())) {
        if (other.number() == append.number()) {
          return other.batch() == append.batch();
        }
      }
      return tables.holds(row, append);
    }

    private void writeFitting(ShardId shard, List<Append> appends) throws SQLException {
      HeadRow row = Objects.requireNonNull(rows.get(shard));
      if (row.period() != cluster.newest().get()) {
        row = cluster.roll(tables, row, appends.getFirst().number() - 1);
      }
      List<Entry> entries = appends.stream().map(AppendGroup::entry).toList();
      tables.addEntries(shard, tables.current(row), entries);
      HeadRow moved = raised(row, appends);
      if (!moved.equals(row)) {
        tables.update(moved);
      }
      rows.put(shard, moved);
    }

    private static HeadRow raised(HeadRow row, List<Append> appends) {
      HeadRow moved = row;
      for (Append append : appends) {
        if (append.raiseWakeMicros() != Append.KEEP_WAKE) {
          moved = moved.with(moved.head().waking(append.raiseWakeMicros()), append.number());
        }
      }
      return moved;
    }
  }
}
