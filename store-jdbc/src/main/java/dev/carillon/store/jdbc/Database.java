package dev.carillon.store.jdbc;

import dev.carillon.store.Outcome;
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
  private static final int SMALL_WRITE_PAGES = 6;
  private static final String CLOSED = "the store is closed";

  private final Path file;
  private final SqliteOptions options;
  private final Counters counters;
  private final HeadCache cache = new HeadCache();
  private final Reserve reserve;
  private final WalGauge wal;
  private final boolean readOnly;

  private final ReentrantLock writing = new ReentrantLock();
  private final ReentrantLock reading = new ReentrantLock();
  private final ReentrantLock copying = new ReentrantLock();

  // Guarded by writing.
  private @Nullable Tables writer;
  private @Nullable String broken;
  private long recheckedAt;
  private boolean full;
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
    this.reserve = new Reserve(Sidecar.RESERVE.of(file), options.reserveBytes());
    this.wal = new WalGauge(options, pageBytes);
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
    database.wal.grew(1);
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

  /** What happens in one transaction. Run again if the first try found the disk full. */
  interface Step<T> {
    /** Ok to commit, anything else to roll back. */
    Outcome<T> run(Tables tables) throws SQLException;
  }

  /** Whether a write may use the reserve. */
  enum Urgency {
    ORDINARY,
    URGENT
  }

  /** Runs a step in a transaction of its own. */
  <T> Outcome<T> write(Urgency urgency, Step<T> step) {
    writing.lock();
    try {
      Outcome<T> refusal = refusal(urgency);
      if (refusal != null) {
        return refusal;
      }
      if (wal.overHardCap()) {
        emptyLog();
      }
      Outcome<T> outcome = attempt(step);
      if (outcome instanceof Outcome.Full && makeRoom(urgency)) {
        outcome = attempt(step);
      }
      return outcome;
    } finally {
      writing.unlock();
    }
  }

  private <T> @Nullable Outcome<T> refusal(Urgency urgency) {
    if (closed) {
      return new Outcome.Unavailable<>(CLOSED);
    }
    if (readOnly) {
      return new Outcome.Unavailable<>(file + " is open for reading only");
    }
    if ((broken != null || writer == null) && !recheck()) {
      return new Outcome.Unavailable<>("not writable since " + broken);
    }
    if (full && urgency == Urgency.ORDINARY) {
      return new Outcome.Full<>("no space left for " + file + "; the reserve is in use");
    }
    return null;
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
        wal.grewPages(SMALL_WRITE_PAGES);
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
    closeSessions();
    cache.clear();
    try {
      Session session = Session.open(file, options);
      writer = new Tables(session, counters);
      if (!allCopied(session)) {
        broken = "another program reads " + file;
        return false;
      }
      Schema.prove(session);
      wal.emptied();
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
      if (emptyLog()) {
        return true;
      }
    }
    if (urgency == Urgency.URGENT && reserve.giveUp()) {
      full = true;
      return true;
    }
    return false;
  }

  /** Whether the reserve is in use. */
  boolean full() {
    return full;
  }

  /** Takes the reserve again if there is space, and with it ordinary writes. */
  void retakeReserve() {
    writing.lock();
    try {
      if (!closed && !reserve.held() && reserve.take()) {
        full = false;
      }
    } finally {
      writing.unlock();
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
      if (tables == null) {
        tables = new Tables(Session.openReader(file, options), counters);
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
        closeReader();
      }
    }
  }

  private <T> Outcome<T> unreadable(SQLException error) {
    String detail = file + ": " + error.getMessage();
    return Failure.of(error) == Failure.CORRUPT
        ? new Outcome.Damaged<>(detail)
        : new Outcome.Unavailable<>(detail);
  }

  /** Copies what the log holds to the file, beside writers and readers. */
  boolean copyLog() {
    return copyLog("pragma wal_checkpoint(passive)");
  }

  /**
   * Copies all of the log while nobody writes or reads, so that the next write starts it anew.
   *
   * @return whether it is empty
   */
  boolean emptyLog() {
    writing.lock();
    reading.lock();
    try {
      counters.stalledCheckpoints.increment();
      boolean emptied = copyLog("pragma wal_checkpoint(truncate)");
      if (emptied) {
        wal.emptied();
      } else {
        wal.emptyingFailed();
      }
      return emptied;
    } finally {
      reading.unlock();
      writing.unlock();
    }
  }

  private boolean copyLog(String pragma) {
    copying.lock();
    try {
      if (closed) {
        return false;
      }
      Session session = copier;
      if (session == null) {
        session = Session.open(file, options);
        // Waiting is for writers to decide, not for the one who keeps them waiting.
        session.run("pragma busy_timeout = 100");
        copier = session;
      }
      long before = wal.written();
      try (ResultSet rows = session.statement(pragma).executeQuery()) {
        counters.checkpoints.increment();
        boolean copied = rows.next() && rows.getInt(1) == 0;
        wal.copied(before, rows.getLong(2), rows.getLong(3));
        return copied && rows.getLong(2) == rows.getLong(3);
      }
    } catch (SQLException e) {
      closeCopier();
      return false;
    } finally {
      copying.unlock();
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
