package dev.carillon.store.jdbc;

import dev.carillon.store.Outcome;
import dev.carillon.store.jdbc.Database.Copy;
import dev.carillon.store.jdbc.Database.Urgency;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that keeps a database small: it copies the write-ahead log to the file, removes the
 * entries of what was dropped, returns free pages to the disk and takes the reserve again. Removing
 * and returning go in small transactions, with four times their length of rest in between; what was
 * not finished goes on after a restart.
 */
final class MaintenanceLoop implements Runnable {

  static final int MAX_ENTRIES = 256;
  static final long MAX_BYTES = 1 << 20;

  /** Few: SQLite looks for each of them in its list of free pages, from the beginning. */
  static final int MAX_PAGES = 32;

  private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int REST = 4;

  /** Free pages are kept for use while they are few, or at most this part of the file. */
  private static final int MAX_FREE_PART = 4;

  private static final long MAX_FREE_BYTES = 32 << 20;

  private final Database database;
  private final Thread thread;
  private volatile boolean stopped;
  private long commitsAtLastTick = -1;

  MaintenanceLoop(Database database, String name) {
    this.database = database;
    this.thread = new Thread(this, name);
    thread.setDaemon(true);
  }

  void start() {
    database.wal().onEnough(this::wake);
    thread.start();
  }

  /** Looks at once whether there is something to do. */
  void wake() {
    LockSupport.unpark(thread);
  }

  /** Ends the thread and waits for it: what it has begun is short. */
  void stop() {
    stopped = true;
    wake();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    long nextTick = System.nanoTime();
    long nextCleaning = nextTick;
    while (!stopped) {
      long now = System.nanoTime();
      if (now - nextTick >= 0) {
        tick();
        nextTick = now + TICK_NANOS;
      }
      boolean more = copy();
      if (now - nextCleaning >= 0) {
        long start = System.nanoTime();
        boolean moreToClean = clean();
        long end = System.nanoTime();
        nextCleaning = end + (moreToClean ? REST * (end - start) : TICK_NANOS);
      }
      if (!more) {
        LockSupport.parkNanos(
            this, Math.max(1, Math.min(nextTick, nextCleaning) - System.nanoTime()));
      }
    }
  }

  /** Copies the rest of a log that nobody writes to, and looks after the disk. */
  private void tick() {
    long commits = database.counters().commits.sum();
    if (commits == commitsAtLastTick && database.wal().anythingToCopy()) {
      database.copyLog();
    }
    if (commits == commitsAtLastTick && database.logOverCap()) {
      database.emptyLog(true);
    }
    commitsAtLastTick = commits;
    if (database.shortOfSpace()) {
      database.lookForSpace();
    }
  }

  /**
   * Copies the log if there is enough in it.
   *
   * @return whether there is enough again
   */
  private boolean copy() {
    boolean failed = false;
    if (database.wal().enoughToCopy()) {
      failed = database.copyLog() == Copy.FAILED;
    }
    if (database.wal().timeToEmpty()) {
      database.emptyLog(false);
    }
    return !failed && database.wal().enoughToCopy();
  }

  /**
   * Does one step of cleaning.
   *
   * @return whether there is more to do
   */
  private boolean clean() {
    Outcome<Boolean> found =
        database.read(tables -> Outcome.ok(tables.garbage() != null || tooManyFreePages(tables)));
    if (!(found instanceof Outcome.Ok<Boolean> ok) || !ok.value()) {
      return false;
    }
    if (database.write(Urgency.CLEANING, this::clean).isOk()) {
      return true;
    }
    database.counters().failedCleanings.increment();
    return false;
  }

  private Outcome<Boolean> clean(Tables tables) throws SQLException {
    Segment garbage = tables.garbage();
    if (garbage == null) {
      if (tooManyFreePages(tables)) {
        tables.session().runToEnd("pragma incremental_vacuum(" + MAX_PAGES + ")");
      }
      return Outcome.ok(true);
    }
    int removed = tables.removeEntries(garbage.key(), MAX_ENTRIES, MAX_BYTES);
    if (removed == 0) {
      tables.removeSegment(garbage);
    }
    database.counters().freedEntries.add(removed);
    return Outcome.ok(true);
  }

  private boolean tooManyFreePages(Tables tables) throws SQLException {
    long free = tables.session().number("pragma freelist_count");
    if (free == 0 || database.shortOfSpace()) {
      return free > 0;
    }
    long pages = tables.session().number("pragma page_count");
    long pageBytes = tables.session().number("pragma page_size");
    return free * pageBytes > MAX_FREE_BYTES && free > pages / MAX_FREE_PART;
  }
}
