package dev.carillon.store.postgres;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.store.Append;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.Transactions;
import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.DamageException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The inbox and the completions of a {@link PostgresStore}. In users' transactions it uses their
 * connection for a statement or two, names every table with its schema, and leaves the session as
 * it is. That the connection leads to this very store is part of each statement.
 */
final class PostgresTransactions implements Transactions {

  /** The taker of a row that nobody has taken. */
  private static final long NOBODY = 0;

  /** How long an open transaction is waited for, by whoever asks in a row. */
  private static final String OPEN_WAIT = "20ms";

  /** A lock was waited for in vain. */
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  private static final int PLACES_A_LOOK = 500;

  private final Cluster cluster;
  private final Database database;
  private final StoreInfo info;
  private final PostgresOptions options;
  private final @Nullable String channel;

  /** With the channel to ring on; null where nobody listens. */
  PostgresTransactions(
      Cluster cluster, StoreInfo info, PostgresOptions options, @Nullable String channel) {
    this.cluster = cluster;
    this.database = cluster.database();
    this.info = info;
    this.options = options;
    this.channel = channel;
  }

  // ---- in a transaction of the user's

  private interface Use<T> {
    T with(Session session) throws SQLException;
  }

  private <T> T use(Connection connection, Use<T> use) {
    try {
      if (connection.getAutoCommit()) {
        throw new InvalidArgumentException(
            "connection: commits each statement by itself (expected: a transaction, begun by"
                + " setAutoCommit(false))");
      }
      return use.with(new Session(connection, options.schema(), 0));
    } catch (SQLException e) {
      throw new StoreUnavailableException(
          "connection: %s (expected: one to the database of the store at %s)"
              .formatted(Failure.text(e), options.where()),
          e);
    }
  }

  private SQLException elsewhere() {
    return new SQLException("leads to another copy of the store", "55000");
  }

  @Override
  public void write(Connection connection, List<Draft> drafts) {
    if (drafts.size() > MAX_ROWS) {
      throw new InvalidArgumentException(
          "drafts: " + drafts.size() + " (expected: at most " + MAX_ROWS + ")");
    }
    if (!drafts.isEmpty()) {
      var unused = use(connection, session -> insert(session, drafts));
    }
  }

  private boolean insert(Session session, List<Draft> drafts) throws SQLException {
    Checksum checksum = new Checksum();
    long[] crcs = new long[drafts.size()];
    byte[][] bodies = new byte[drafts.size()][];
    for (int i = 0; i < crcs.length; i++) {
      Draft draft = drafts.get(i);
      bodies[i] = draft.body();
      crcs[i] = crc(checksum, draft.ticket(), draft.body());
    }
    String bell = channel == null ? "" : ", pg_notify(?, ?)";
    try (PreparedStatement insert =
        session.statement(
            """
            with i as (
              insert into $.inbox(cluster, ticket, crc, body)
              select c.id, r.ticket, r.crc, r.body
              from unnest(?::text[], ?::int8[], ?::bytea[]) with ordinality
                as r(ticket, crc, body, place), $.clusters c
              where c.id = ? and c.incarnation = ? order by r.place returning id)
            select n BELL from (select count(*) as n from i) as written where n > 0
            """
                .replace("BELL", bell))) {
      session.setTexts(insert, 1, drafts.stream().map(Draft::ticket).toList());
      session.setLongs(insert, 2, crcs);
      session.setBytes(insert, 3, bodies);
      insert.setInt(4, cluster.id());
      insert.setString(5, cluster.identity().own());
      if (channel != null) {
        insert.setString(6, channel);
        insert.setString(7, PostgresDoorbells.said(BELL));
      }
      try (ResultSet written = insert.executeQuery()) {
        if (!written.next() || written.getLong(1) != drafts.size()) {
          throw elsewhere();
        }
      }
    }
    return true;
  }

  /** The row first and what must hold after it: a claim is seen, or sees the row. */
  @Override
  public Answer complete(Connection connection, Completion completion, @Nullable Permit permit) {
    return use(
        connection,
        session -> {
          if (!insert(session, completion)) {
            if (stored(session, List.of(completion.place())).isEmpty()) {
              throw elsewhere();
            }
            return Answer.COMPLETED;
          }
          if (isCurrent(session, completion, permit)) {
            return Answer.NOTED;
          }
          delete(session, completion);
          return Answer.STALE;
        });
  }

  private boolean insert(Session session, Completion completion) throws SQLException {
    Place place = completion.place();
    try (PreparedStatement insert =
        session.statement(
            "insert into $.completions(cluster, shard, job, epoch, nonce, crc, outcome)"
                + " select id, ?, ?, ?, ?, ?, ? from $.clusters where id = ? and incarnation = ?"
                + " on conflict do nothing")) {
      insert.setString(1, place.shard().toString());
      insert.setLong(2, place.job());
      insert.setLong(3, completion.epoch());
      insert.setLong(4, completion.nonce());
      insert.setLong(5, crc(completion));
      insert.setBytes(6, completion.outcome());
      insert.setInt(7, cluster.id());
      insert.setString(8, cluster.identity().own());
      return insert.executeUpdate() == 1;
    }
  }

  private static long crc(Completion completion) {
    Checksum checksum = new Checksum();
    checksum
        .begin(completion.place().shard())
        .putLong(completion.place().job())
        .putLong(completion.epoch())
        .putLong(completion.nonce());
    return checksum.end(completion.outcome());
  }

  /**
   * Whether the epoch is the shard's now, and the permit is there. A transaction that sees the past
   * locks both to see the present, which fails where they are others, and gives the locks back at
   * once: no claim waits for a transaction of a user's.
   */
  private boolean isCurrent(Session session, Completion completion, @Nullable Permit permit)
      throws SQLException {
    Connection connection = session.connection();
    if (connection.getTransactionIsolation() <= Connection.TRANSACTION_READ_COMMITTED) {
      return isEpoch(session, completion, "") && (permit == null || isThere(session, permit, ""));
    }
    Savepoint beforeTheLock = connection.setSavepoint();
    boolean current =
        isEpoch(session, completion, " for share")
            && (permit == null || isThere(session, permit, " for share"));
    connection.rollback(beforeTheLock);
    return current;
  }

  private boolean isEpoch(Session session, Completion completion, String lock) throws SQLException {
    try (PreparedStatement select =
        session.statement("select epoch from $.heads where cluster = ? and shard = ?" + lock)) {
      select.setInt(1, cluster.id());
      select.setString(2, completion.place().shard().toString());
      try (ResultSet rows = select.executeQuery()) {
        return rows.next() && rows.getLong(1) == completion.epoch();
      }
    }
  }

  private boolean isThere(Session session, Permit permit, String lock) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select writer, sequence from $.records where cluster = ? and key = ?" + lock)) {
      select.setInt(1, cluster.id());
      select.setBytes(2, utf8(permit.key()));
      try (ResultSet rows = select.executeQuery()) {
        return rows.next()
            && rows.getLong(1) == permit.version().writer()
            && rows.getLong(2) == permit.version().sequence();
      }
    }
  }

  /** Should the caller commit all the same, nothing of it counts. */
  private void delete(Session session, Completion completion) throws SQLException {
    try (PreparedStatement delete =
        session.statement(
            "delete from $.completions where cluster = ? and shard = ? and job = ?"
                + " and nonce = ?")) {
      delete.setInt(1, cluster.id());
      delete.setString(2, completion.place().shard().toString());
      delete.setLong(3, completion.place().job());
      delete.setLong(4, completion.nonce());
      Session.mustChangeOne(delete);
    }
  }

  // ---- the inbox, by the node

  @Override
  public Outcome<List<Row>> take(long taker, LongPredicate free, int maxRows, long maxBytes) {
    Outcome<List<Long>> takers = database.read(session -> Outcome.ok(takers(session)));
    if (!takers.isOk()) {
      return takers.map(none -> List.of());
    }
    long[] mayBeTaken =
        takers.orThrow().stream()
            .mapToLong(each -> each)
            .filter(each -> each == NOBODY || free.test(each))
            .toArray();
    if (mayBeTaken.length == 0) {
      return Outcome.ok(List.of());
    }
    return database.write(
        session -> {
          long[] rows = candidates(session, mayBeTaken, maxRows, maxBytes);
          return Outcome.ok(rows.length == 0 ? List.of() : stamp(session, taker, mayBeTaken, rows));
        });
  }

  /** All who have stamped rows that are there: by jumps in the index, not by reading them all. */
  private List<Long> takers(Session session) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            """
            with recursive t as (
              (select taker from $.inbox where cluster = ? order by taker limit 1)
              union all
              select (select i.taker from $.inbox i where i.cluster = ? and i.taker > t.taker
                order by i.taker limit 1)
              from t where t.taker is not null)
            select taker from t where taker is not null
            """)) {
      select.setInt(1, cluster.id());
      select.setInt(2, cluster.id());
      List<Long> takers = new ArrayList<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          takers.add(rows.getLong(1));
        }
      }
      return takers;
    }
  }

  private long[] candidates(Session session, long[] takers, int maxRows, long maxBytes)
      throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select id, octet_length(body) from $.inbox where cluster = ? and taker = any(?)"
                + " order by id limit ?")) {
      select.setInt(1, cluster.id());
      session.setLongs(select, 2, takers);
      select.setInt(3, Math.clamp(maxRows, 1, MAX_ROWS));
      List<Long> ids = new ArrayList<>();
      long bytes = 0;
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next() && (ids.isEmpty() || bytes + rows.getInt(2) <= maxBytes)) {
          bytes += rows.getInt(2);
          ids.add(rows.getLong(1));
        }
      }
      return ids.stream().mapToLong(id -> id).toArray();
    }
  }

  private List<Row> stamp(Session session, long taker, long[] takers, long[] ids)
      throws SQLException {
    try (PreparedStatement update =
        session.statement(
            "update $.inbox set taker = ? where cluster = ? and id = any(?) and taker = any(?)"
                + " returning id, ticket, crc, body")) {
      update.setLong(1, taker);
      update.setInt(2, cluster.id());
      session.setLongs(update, 3, ids);
      session.setLongs(update, 4, takers);
      List<Row> rows = rows(update);
      rows.sort(Comparator.comparingLong(Row::id));
      return rows;
    }
  }

  private static List<Row> rows(PreparedStatement statement) throws SQLException {
    Checksum checksum = new Checksum();
    List<Row> found = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        Row row = new Row(rows.getLong(1), rows.getString(2), rows.getBytes(4));
        if (crc(checksum, row.ticket(), row.body()) != rows.getLong(3)) {
          throw new DamageException("row " + row.id() + " of the inbox: wrong checksum");
        }
        found.add(row);
      }
    }
    return found;
  }

  private static long crc(Checksum checksum, String ticket, byte[] body) {
    byte[] name = utf8(ticket);
    checksum.begin().putInt(name.length);
    return checksum.end(name, body);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Outcome<Optional<Row>> find(String ticket) {
    return database.read(
        session -> {
          try (PreparedStatement select =
              session.statement(
                  "select id, ticket, crc, body from $.inbox where cluster = ? and ticket = ?")) {
            select.setInt(1, cluster.id());
            select.setString(2, ticket);
            return Outcome.ok(rows(select).stream().findFirst());
          }
        });
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, List<Rider> riders, boolean allOrNothing) {
    return new AppendGroup(cluster, info, group, riders, allOrNothing).run();
  }

  // ---- completions, by the owner

  @Override
  public Outcome<List<Settled>> settle(List<Place> jobs) {
    Map<Place, Settled> settled = new HashMap<>();
    for (int from = 0; from < jobs.size(); from += PLACES_A_LOOK) {
      List<Place> some = jobs.subList(from, Math.min(jobs.size(), from + PLACES_A_LOOK));
      Outcome<Boolean> outcome = settle(some, settled);
      if (!outcome.isOk()) {
        return outcome.map(none -> List.of());
      }
    }
    return Outcome.ok(jobs.stream().map(settled::get).toList());
  }

  /** Looks, waits for those who may be about to change what was seen, and looks again. */
  private Outcome<Boolean> settle(List<Place> jobs, Map<Place, Settled> settled) {
    Outcome<Boolean> looked = look(jobs, settled);
    List<Place> none = without(jobs, settled);
    if (!looked.isOk() || none.isEmpty()) {
      return looked;
    }
    Set<Place> open = new HashSet<>();
    Outcome<Boolean> waited = awaitOpen(none, open);
    if (!waited.isOk()) {
      return waited;
    }
    open.forEach(place -> settled.put(place, new Settled(null, true)));
    Outcome<Boolean> again = look(without(none, settled), settled);
    without(none, settled).forEach(place -> settled.put(place, new Settled(null, false)));
    return again;
  }

  private static List<Place> without(List<Place> jobs, Map<Place, Settled> settled) {
    return jobs.stream().filter(place -> !settled.containsKey(place)).distinct().toList();
  }

  private Outcome<Boolean> look(List<Place> jobs, Map<Place, Settled> settled) {
    if (jobs.isEmpty()) {
      return Outcome.ok(true);
    }
    return database.read(
        session -> {
          for (Completion found : stored(session, jobs)) {
            settled.put(found.place(), new Settled(found, false));
          }
          return Outcome.ok(true);
        });
  }

  private List<Completion> stored(Session session, List<Place> jobs) throws SQLException {
    try (PreparedStatement select =
        session.statement(
            "select c.shard, c.job, c.epoch, c.nonce, c.crc, c.outcome from $.completions c"
                + " join unnest(?::text[], ?::int8[]) as p(shard, job)"
                + " on c.shard = p.shard and c.job = p.job where c.cluster = ?")) {
      setPlaces(session, select, jobs);
      select.setInt(3, cluster.id());
      List<Completion> found = new ArrayList<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          Place place = new Place(ShardId.parse(rows.getString(1)), rows.getLong(2));
          Completion completion =
              new Completion(place, rows.getLong(3), rows.getLong(4), rows.getBytes(6));
          if (crc(completion) != rows.getLong(5)) {
            throw new DamageException("completion of job " + place + ": wrong checksum");
          }
          found.add(completion);
        }
      }
      return found;
    }
  }

  private static void setPlaces(Session session, PreparedStatement statement, List<Place> jobs)
      throws SQLException {
    session.setTexts(statement, 1, jobs.stream().map(place -> place.shard().toString()).toList());
    session.setLongs(statement, 2, jobs.stream().mapToLong(Place::job).toArray());
  }

  /** All of them at once, and one by one where somebody has one of them open. */
  private Outcome<Boolean> awaitOpen(List<Place> jobs, Set<Place> open) {
    Outcome<Boolean> all = tryToPut(jobs);
    if (!all.isOk() || all.orThrow()) {
      return all;
    }
    if (jobs.size() == 1) {
      open.addAll(jobs);
      return Outcome.ok(true);
    }
    for (Place job : jobs) {
      Outcome<Boolean> one = awaitOpen(Collections.singletonList(job), open);
      if (!one.isOk()) {
        return one;
      }
    }
    return Outcome.ok(true);
  }

  /**
   * Puts rows in the place of completions and takes them back: that waits for any transaction that
   * has put one and not ended. False where one has not ended in time.
   */
  private Outcome<Boolean> tryToPut(List<Place> jobs) {
    boolean[] ended = new boolean[1];
    Outcome<Boolean> outcome =
        database.write(
            session -> {
              session.run("set local lock_timeout = '" + OPEN_WAIT + "'");
              ended[0] = put(session, jobs);
              return new Outcome.Conflict<>(0); // rolls back, as was meant
            });
    return outcome instanceof Outcome.Conflict<Boolean> ? Outcome.ok(ended[0]) : outcome;
  }

  private boolean put(Session session, List<Place> jobs) throws SQLException {
    try (PreparedStatement insert =
        session.statement(
            "insert into $.completions(shard, job, cluster, epoch, nonce, crc, outcome)"
                + " select p.*, ?, 0, 0, 0, '' from unnest(?::text[], ?::int8[]) as p(shard, job)"
                + " order by 1, 2 on conflict do nothing")) {
      insert.setInt(1, cluster.id());
      session.setTexts(insert, 2, jobs.stream().map(place -> place.shard().toString()).toList());
      session.setLongs(insert, 3, jobs.stream().mapToLong(Place::job).toArray());
      insert.executeUpdate();
      return true;
    } catch (SQLException e) {
      if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
        return false;
      }
      throw e;
    }
  }
}
