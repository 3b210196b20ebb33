package dev.carillon.store.jdbc;

import dev.carillon.store.Outcome;
import dev.carillon.store.sql.DamageException;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The database file: one connection that writes, one that reads, one that copies the write-ahead
 * log, each under a lock of its own, taken in this order: writing, reading, copying. Locks are
 * taken without regard to interrupts, and SQLite knows none, so an interrupted caller changes
 * nothing.
 *
 * <p><b>After a failed commit.</b> When the disk fails during a commit its frames may be in the log
 * and come back at the next start. Nothing is written then, and nothing acknowledged, until {@link
 * #recheck} has opened the file anew, copied the whole log to it and committed something: from
 * there on what can be read is on the disk, and what cannot be read is gone for good.
 */
final class Database implements AutoCloseable {

  private static final long RECHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Space below which a disk counts as full. */
  static final long SPARE_BYTES = 1 << 20;

  /** Emptying the log, then the reserve. */
  private static final int WAYS_TO_MAKE_ROOM = 2;

  private static final String CLOSED = "the store is closed";

  private final Path file;
  private final SqliteOptions options;
  private final Counters counters;
  private final HeadCache cache = new HeadCache();
  private final Reserve reserve;
  private final WalGauge wal;
  private final int pageBytes;
  private final boolean readOnly;

  private final ReentrantLock writing = new ReentrantLock();
  private final ReentrantLock reading = new ReentrantLock();
  private final ReentrantLock copying = new ReentrantLock();

  // Guarded by writing.
  private @Nullable Tables writer;
  private @Nullable String broken;
  private volatile FileIdentity identity;
  private long recheckedAt;
  private boolean full;
  private volatile boolean shortOfSpace;
  private long roomMadeAt;

  // Guarded by reading.
  private @Nullable Tables reader;

  // Guarded by copying.
  private @Nullable Session copier;

  private volatile boolean closed;

  private Database(
      Path file, SqliteOptions options, Counters counters, int pageBytes, boolean readOnly) {
    this.file = file;
    this.options = options;
    this.counters = counters;
    this.readOnly = readOnly;
    this.pageBytes = pageBytes;
    this.reserve = new Reserve(file, options.reserveBytes());
    this.wal = new WalGauge(options, pageBytes);
    this.identity = FileIdentity.of(file);
    this.recheckedAt = System.nanoTime() - RECHECK_NANOS;
    this.roomMadeAt = recheckedAt;
  }

  /** Takes over an open session, whose schema has been checked. */
  static Database of(Path file, SqliteOptions options, Counters counters, Session session)
      throws SQLException {
    int pageBytes = (int) session.number("pragma page_size");
    Database database = new Database(file, options, counters, pageBytes, false);
    database.writer = new Tables(session, counters);
    database.full = !database.reserve.take();
    database.shortOfSpace = database.full;
    return database;
  }

  /** Takes over a session that only reads. */
  static Database ofReader(Path file, SqliteOptions options, Counters counters, Session session)
      throws SQLException {
    int pageBytes = (int) session.number("pragma page_size");
    Database database = new Database(file, options, counters, pageBytes, true);
    database.reader = new Tables(session, counters);
    return database;
  }

  HeadCache cache() {
    return cache;
  }

  Counters counters() {
    return counters;
  }

  WalGauge wal() {
    return wal;
  }

  /** What happens in one transaction. Run again where it found the disk full. */
  interface Step<T> {
    /** Ok to commit, anything else to roll back. */
    Outcome<T> run(Tables tables) throws SQLException;
  }

  /** What a write may use when the disk is full. */
  enum Urgency {
    /** Nothing, and it leaves enough for the log to be copied. */
    ORDINARY,
    /** Half of the reserve. */
    URGENT,
    /** All of the reserve. */
    CLEANING
  }

  /** Runs a step that writes little in a transaction of its own. */
  <T> Outcome<T> write(Urgency urgency, Step<T> step) {
    return write(urgency, 0, step);
  }

  /** Runs a step that writes about {@code bytes} in a transaction of its own. */
  <T> Outcome<T> write(Urgency urgency, long bytes, Step<T> step) {
    writing.lock();
    try {
      Outcome<T> refusal = refusal(urgency, bytes);
      if (refusal != null) {
        return refusal;
      }
      if (wal.overHardCap()) {
        emptyLog(false);
      }
      Outcome<T> outcome = attempt(step);
      for (int i = 0; i < WAYS_TO_MAKE_ROOM && isFull(outcome) && makeRoom(urgency); i++) {
        outcome = attempt(step);
      }
      shortOfSpace |= isFull(outcome);
      return outcome;
    } finally {
      writing.unlock();
    }
  }

  private static boolean isFull(Outcome<?> outcome) {
    return outcome instanceof Outcome.Full;
  }

  private <T> @Nullable Outcome<T> refusal(Urgency urgency, long bytes) {
    if (closed) {
      return new Outcome.Unavailable<>(CLOSED);
    }
    if (readOnly) {
      return new Outcome.Unavailable<>(file + " is open for reading only");
    }
    if ((broken != null || writer == null) && !recheck()) {
      return new Outcome.Unavailable<>("not writable since " + broken);
    }
    Path changed = identity.changed();
    if (changed != null) {
      return new Outcome.Unavailable<>(changed + " was deleted, moved or replaced");
    }
    if (urgency == Urgency.ORDINARY && !hasRoom(bytes)) {
      shortOfSpace = true;
      return new Outcome.Full<>("no space left for " + file);
    }
    return null;
  }

  /** Whether there is space for a write and for all that the log holds to be copied. */
  private boolean hasRoom(long bytes) {
    if (full) {
      return false;
    }
    long needed = 2 * bytes + SPARE_BYTES;
    return reserve.usableBytes() >= wal.uncopiedBytes() + needed
        || (makeRoom(Urgency.ORDINARY) && reserve.usableBytes() >= wal.uncopiedBytes() + needed);
  }

  private <T> Outcome<T> attempt(Step<T> step) {
    Tables tables = writer;
    if (tables == null) {
      return new Outcome.Unavailable<>("no connection to " + file);
    }
    boolean committing = false;
    boolean done = false;
    try {
      tables.session().begin();
      Outcome<T> outcome = step.run(tables);
      if (outcome.isOk()) {
        committing = true;
        tables.session().commit();
        counters.commits.increment();
        gauge(tables.session(), true);
      } else {
        tables.session().rollback();
      }
      done = true;
      return outcome;
    } catch (SQLException e) {
      done = true;
      return failed(tables, e, committing);
    } catch (DamageException e) {
      done = true;
      abandon(tables);
      return new Outcome.Damaged<>(e.where());
    } finally {
      if (!done) {
        // An error of the virtual machine: whatever was under way must not be committed later.
        abandon(tables);
      }
    }
  }

  private void gauge(Session session, boolean committed) {
    try (ResultSet rows = session.statement("pragma wal_checkpoint(noop)").executeQuery()) {
      if (rows.next()) {
        wal.set(rows.getLong(2), rows.getLong(3), committed);
      }
    } catch (SQLException e) {
      // What was done stands; the next commit tells how full the log is.
      session.forgetStatements();
    }
  }

  private <T> Outcome<T> failed(Tables tables, SQLException error, boolean committing) {
    Failure failure = Failure.of(error);
    String detail = file + ": " + error.getMessage();
    if (committing && failure != Failure.FULL && failure != Failure.BUSY) {
      cache.clear();
      broken = "a commit failed: " + detail;
      return new Outcome.Unknown<>(detail);
    }
    abandon(tables);
    return switch (failure) {
      case FULL -> new Outcome.Full<>(detail);
      case CORRUPT -> new Outcome.Damaged<>(detail);
      case BUSY, READ_ONLY, CONSTRAINT, IO -> new Outcome.Unavailable<>(detail);
    };
  }

  private void abandon(Tables tables) {
    cache.clear();
    try {
      tables.session().abandon();
    } catch (SQLException e) {
      broken = "a rollback failed: " + e.getMessage();
    }
  }

  /** Finds out what is on the disk; at most five times a second. */
  private boolean recheck() {
    long now = System.nanoTime();
    if (now - recheckedAt < RECHECK_NANOS) {
      return false;
    }
    recheckedAt = now;
    if (!identity.isSameFile()) {
      broken = file + " was deleted, moved or replaced";
      return false;
    }
    closeSessions();
    cache.clear();
    try {
      Session session = Session.open(file, options, () -> refuseIf(!identity.isSameFile()));
      writer = new Tables(session, counters);
      if (!allCopied(session)) {
        broken = "another program reads " + file;
        return false;
      }
      Schema.prove(session);
      identity = FileIdentity.of(file);
      broken = null;
      return true;
    } catch (SQLException e) {
      broken = file + ": " + e.getMessage();
      return false;
    }
  }

  private static boolean allCopied(Session session) throws SQLException {
    try (ResultSet rows = session.statement("pragma wal_checkpoint(full)").executeQuery()) {
      return rows.next() && rows.getInt(1) == 0 && rows.getLong(2) == rows.getLong(3);
    }
  }

  private boolean makeRoom(Urgency urgency) {
    long now = System.nanoTime();
    if (now - roomMadeAt >= RECHECK_NANOS) {
      roomMadeAt = now;
      if (emptyLog(true)) {
        return true;
      }
    }
    if (reserve.giveTo(urgency)) {
      full = true;
      shortOfSpace = true;
      return true;
    }
    return false;
  }

  /** Whether something found the disk full, and nobody has looked again since. */
  boolean shortOfSpace() {
    return shortOfSpace;
  }

  /** Looks whether there is space again, and takes the reserve, and with it ordinary writes. */
  void lookForSpace() {
    writing.lock();
    try {
      if (closed || readOnly || !(shortOfSpace || full)) {
        return;
      }
      emptyLog(true);
      if (reserve.take()) {
        full = false;
        shortOfSpace = reserve.usableBytes() < options.reserveBytes() + SPARE_BYTES;
      }
    } finally {
      writing.unlock();
    }
  }

  /**
   * Whether another file stands where ours was. It must not be read: beside an empty one SQLite
   * deletes the log, which is ours. Asked before a file is opened and again before it is read.
   */
  private boolean wasReplaced() {
    return readOnly ? !identity.isSameFile() : identity.changed() != null;
  }

  private void refuseReplaced() throws SQLException {
    refuseIf(wasReplaced());
  }

  private void refuseIf(boolean replaced) throws SQLException {
    if (replaced) {
      throw new SQLException(file + " was deleted, moved or replaced");
    }
  }

  /** What is read in one snapshot. */
  interface Query<T> {
    Outcome<T> run(Tables tables) throws SQLException;
  }

  /** Reads what is committed. Works also while nothing can be written. */
  <T> Outcome<T> read(Query<T> query) {
    reading.lock();
    try {
      if (closed) {
        return new Outcome.Unavailable<>(CLOSED);
      }
      Tables tables = reader;
      if (tables == null && wasReplaced()) {
        return new Outcome.Unavailable<>(file + " was deleted, moved or replaced");
      }
      if (tables == null) {
        tables = new Tables(Session.openReader(file, options, this::refuseReplaced), counters);
        reader = tables;
      }
      return read(tables, query);
    } catch (SQLException e) {
      return unreadable(e);
    } finally {
      reading.unlock();
    }
  }

  private <T> Outcome<T> read(Tables tables, Query<T> query) {
    boolean done = false;
    try {
      tables.session().beginReading();
      Outcome<T> outcome = query.run(tables);
      tables.session().commit();
      done = true;
      return outcome;
    } catch (DamageException e) {
      return new Outcome.Damaged<>(e.where());
    } catch (SQLException e) {
      return unreadable(e);
    } finally {
      if (!done) {
        abandonReading(tables);
      }
    }
  }

  private void abandonReading(Tables tables) {
    try {
      tables.session().abandon();
    } catch (SQLException e) {
      closeReader();
    }
  }

  private <T> Outcome<T> unreadable(SQLException error) {
    String detail = file + ": " + error.getMessage();
    return Failure.of(error) == Failure.CORRUPT
        ? new Outcome.Damaged<>(detail)
        : new Outcome.Unavailable<>(detail);
  }

  /** Copies what the log holds to the file, beside writers and readers. */
  Copy copyLog() {
    return copyLog("pragma wal_checkpoint(passive)");
  }

  /** Whether the log takes more space on the disk than it should. */
  boolean logOverCap() {
    return Sidecar.WAL.of(file).toFile().length() > options.walCapBytes();
  }

  /** How far a copy got. */
  enum Copy {
    ALL,
    SOME,
    FAILED
  }

  /**
   * Copies all of the log while nobody writes or reads, so that the next write starts it anew.
   *
   * @param giveBack whether its space goes back to the disk
   * @return whether it is empty
   */
  boolean emptyLog(boolean giveBack) {
    writing.lock();
    reading.lock();
    try {
      counters.stalledCheckpoints.increment();
      Copy copy =
          copyLog(giveBack ? "pragma wal_checkpoint(truncate)" : "pragma wal_checkpoint(restart)");
      if (copy != Copy.ALL) {
        wal.emptyingFailed();
      }
      return copy == Copy.ALL;
    } finally {
      reading.unlock();
      writing.unlock();
    }
  }

  private Copy copyLog(String pragma) {
    copying.lock();
    try {
      if (closed) {
        return Copy.FAILED;
      }
      Session session = copier;
      if (session == null && wasReplaced()) {
        return Copy.FAILED;
      }
      if (session == null) {
        session = Session.open(file, options, this::refuseReplaced);
        // Waiting is for writers to decide, not for the one who keeps them waiting.
        session.run("pragma busy_timeout = 100");
        copier = session;
      }
      return fits(session) ? copyLog(session, pragma) : Copy.FAILED;
    } catch (SQLException e) {
      closeCopier();
      return Copy.FAILED;
    } finally {
      copying.unlock();
    }
  }

  /** A copy that cannot be finished would only eat the space that is left. */
  private boolean fits(Session session) throws SQLException {
    long usable = reserve.usableBytes();
    return usable >= wal.uncopiedBytes()
        || usable >= session.number("pragma page_count") * pageBytes - file.toFile().length();
  }

  private Copy copyLog(Session session, String pragma) throws SQLException {
    try (ResultSet rows = session.statement(pragma).executeQuery()) {
      counters.checkpoints.increment();
      boolean all = rows.next() && rows.getInt(1) == 0 && rows.getLong(2) == rows.getLong(3);
      return all ? Copy.ALL : Copy.SOME;
    } finally {
      gauge(session, false);
    }
  }

  private void closeReader() {
    Tables tables = reader;
    if (tables != null) {
      tables.session().close();
      reader = null;
    }
  }

  private void closeCopier() {
    Session session = copier;
    if (session != null) {
      session.close();
      copier = null;
    }
  }

  private void closeSessions() {
    reading.lock();
    copying.lock();
    try {
      closeReader();
      closeCopier();
      Tables tables = writer;
      if (tables != null) {
        tables.session().close();
        writer = null;
      }
    } finally {
      copying.unlock();
      reading.unlock();
    }
  }

  @Override
  public void close() {
    writing.lock();
    try {
      closed = true;
      closeSessions();
    } finally {
      writing.unlock();
    }
  }
}
