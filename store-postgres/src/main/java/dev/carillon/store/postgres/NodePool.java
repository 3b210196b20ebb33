package dev.carillon.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection pool of one node, which shares no connection with the application. A borrower gets
 * the connection that was used last, or a new one as long as the pool may grow; else it waits in
 * line, first come first served, for a bounded time.
 *
 * <p>The borrower itself connects. So the error of a failed connect is the server's own, it is
 * thrown at once, and the next borrower after the server is back gets a connection.
 *
 * <p>A connection that was idle for half a second, or whose last use failed, is tested before it is
 * lent. Connections beyond the least number close after ten idle minutes, all after half an hour,
 * unless they are kept.
 *
 * <p>Thread-safe. No lock is held while the pool waits for the server.
 */
final class NodePool implements AutoCloseable {

  private static final long TEST_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long LIFE_NANOS = TimeUnit.MINUTES.toNanos(30);
  private static final int TEST_SECONDS = 2;

  /**
   * How large a pool is and how long it makes others wait.
   *
   * @param size how many connections it has at most
   * @param least how many idle ones stay open
   * @param kept whether connections stay open for as long as they work
   * @param patience how long a borrower waits while all are in use
   */
  record Settings(int size, int least, boolean kept, Duration patience) {}

  private final Dial dial;
  private final Settings settings;
  private final Semaphore permits;
  private final Deque<Entry> idle = new ArrayDeque<>(); // the one used last is first
  private final IdentityHashMap<Connection, Entry> lent = new IdentityHashMap<>();
  private boolean closed;

  /** A connection and its times. */
  private static final class Entry {
    final Connection connection;
    final long bornNanos = System.nanoTime();
    long usedNanos = bornNanos;
    boolean suspect;

    Entry(Connection connection) {
      this.connection = connection;
    }
  }

  NodePool(Dial dial, Settings settings) {
    this.dial = dial;
    this.settings = settings;
    this.permits = new Semaphore(settings.size(), true);
  }

  /** Lends a connection that works; to be {@linkplain #giveBack given back}. */
  Connection borrow() throws SQLException {
    enter();
    boolean lends = false;
    try {
      Entry entry = idleOne();
      if (entry == null) {
        entry = new Entry(dial.connect());
      }
      lend(entry);
      lends = true;
      return entry.connection;
    } finally {
      if (!lends) {
        permits.release();
      }
    }
  }

  private void enter() throws SQLException {
    try {
      if (!permits.tryAcquire(settings.patience().toNanos(), TimeUnit.NANOSECONDS)) {
        throw new SQLException(
            "connections: all %d of this node's pool are in use for %d ms (expected: poolSize such"
                    .formatted(settings.size(), settings.patience().toMillis())
                + " that one is free)",
            "53300");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SQLException("interrupted while waiting for a connection", "53300", e);
    }
  }

  private @Nullable Entry idleOne() {
    while (true) {
      Entry entry;
      synchronized (this) {
        entry = idle.poll();
      }
      if (entry == null || works(entry)) {
        return entry;
      }
      closeQuietly(entry.connection);
      if (!settings.kept()) {
        closeSuspects(entry);
      }
    }
  }

  /** Closes those that were used no later than one that is broken: the server may be gone. */
  private void closeSuspects(Entry broken) {
    List<Entry> suspects = new ArrayList<>();
    synchronized (this) {
      idle.removeIf(
          entry -> {
            boolean older = entry.usedNanos - broken.usedNanos <= 0;
            return older && suspects.add(entry);
          });
    }
    suspects.forEach(entry -> closeQuietly(entry.connection));
  }

  private boolean works(Entry entry) {
    long now = System.nanoTime();
    if (!settings.kept() && now - entry.bornNanos > LIFE_NANOS) {
      return false;
    }
    if (!entry.suspect && now - entry.usedNanos < TEST_AFTER_NANOS) {
      return true;
    }
    try {
      return entry.connection.isValid(TEST_SECONDS);
    } catch (SQLException | RuntimeException e) { // a data source may wrap its connections
      return false;
    }
  }

  private synchronized void lend(Entry entry) throws SQLException {
    if (closed) {
      closeQuietly(entry.connection);
      throw new SQLException("the store is closed");
    }
    entry.suspect = false;
    lent.put(entry.connection, entry);
  }

  /**
   * Takes a connection back.
   *
   * @param worked whether its last use succeeded; else it is tested before it is lent again
   */
  void giveBack(Connection connection, boolean worked) {
    boolean open = isOpen(connection);
    List<Entry> over = new ArrayList<>(0);
    synchronized (this) {
      Entry entry = lent.remove(connection);
      if (entry == null) {
        return;
      }
      entry.usedNanos = System.nanoTime();
      entry.suspect = !worked;
      if (open && !closed) {
        idle.addFirst(entry);
        takeIdleTooLong(over);
      } else {
        over.add(entry);
      }
    }
    over.forEach(entry -> closeQuietly(entry.connection));
    permits.release();
  }

  private void takeIdleTooLong(List<Entry> over) {
    while (!settings.kept() && idle.size() > settings.least()) {
      Entry oldest = idle.peekLast();
      if (oldest == null || System.nanoTime() - oldest.usedNanos < IDLE_NANOS) {
        return;
      }
      over.add(idle.removeLast());
    }
  }

  private static boolean isOpen(Connection connection) {
    try {
      return !connection.isClosed();
    } catch (SQLException e) {
      return false;
    }
  }

  private static void closeQuietly(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      // It is broken already.
    }
  }

  /** Opens connections until there are {@code count} idle ones. */
  void fill(int count) throws SQLException {
    while (true) {
      synchronized (this) {
        if (closed || idle.size() >= count) {
          return;
        }
      }
      Entry entry = new Entry(dial.connect());
      synchronized (this) {
        if (!closed) {
          idle.addLast(entry);
          continue;
        }
      }
      closeQuietly(entry.connection);
    }
  }

  /** How many connections it has. */
  synchronized int open() {
    return idle.size() + lent.size();
  }

  /** Closes idle connections now and lent ones when they are given back. */
  @Override
  public void close() {
    List<Entry> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(idle);
      idle.clear();
    }
    all.forEach(entry -> closeQuietly(entry.connection));
  }
}
