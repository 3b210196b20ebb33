package dev.carillon.store.postgres;

import dev.carillon.store.Doorbells;
import dev.carillon.store.Outcome;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Doorbells over LISTEN and NOTIFY: one channel for a cluster, the name of the bell as what is
 * said. A ring is a statement of its own, never part of a transaction that writes: those that
 * notify commit one after the other in the whole database.
 *
 * <p>Owns a thread, and has a connection of the node's pool that listens, from the first listener
 * on. Whenever it connects anew everybody is rung, since rings may have been missed.
 */
final class PostgresDoorbells implements Doorbells, AutoCloseable {

  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final int WAIT_MILLIS = 500;
  private static final int CLOSE_MILLIS = 5_000;
  private static final int NETWORK_MILLIS = 5_000;

  /** A name that nobody listens to. */
  private static final String WAKE = "";

  /** How often it is asked whether the server is still there. */
  private static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Cluster cluster;
  private final NodePool pool;
  private final String channel;
  private final Map<String, List<Bell>> bells = new ConcurrentHashMap<>();
  private final CountDownLatch closing = new CountDownLatch(1);
  private @Nullable Thread thread;

  /** By identity: one runnable may listen twice. */
  private static final class Bell {
    final Runnable heard;

    Bell(Runnable heard) {
      this.heard = heard;
    }
  }

  PostgresDoorbells(Cluster cluster, String schema, NodePool pool) {
    this.cluster = cluster;
    this.pool = pool;
    CRC32C crc = new CRC32C();
    crc.update(schema.getBytes(StandardCharsets.UTF_8));
    this.channel = "carillon_" + cluster.id() + "_" + Long.toHexString(crc.getValue());
  }

  @Override
  public void ring(String name) {
    String said = said(name);
    try {
      // Lost where it cannot be said: a ring is a hint.
      Outcome<Boolean> unused =
          cluster
              .database()
              .writeAtOnce(
                  session -> {
                    try (PreparedStatement notify = session.statement("select pg_notify(?, ?)")) {
                      notify.setString(1, channel);
                      notify.setString(2, said);
                      notify.executeQuery().close();
                    }
                    return Outcome.ok(true);
                  });
    } catch (Database.UndoneException e) {
      return;
    }
  }

  /** Where rings are heard. */
  String channel() {
    return channel;
  }

  /** What is said for a name: any text, without what a payload cannot hold. */
  static String said(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "name: " + bytes.length + " bytes (expected: at most " + MAX_NAME_BYTES + ")");
    }
    return Base64.getEncoder().encodeToString(bytes);
  }

  @Override
  public Listening listen(String name, Runnable heard) {
    Bell bell = new Bell(heard);
    String said = said(name);
    bells.compute(
        said,
        (key, all) -> {
          List<Bell> more = all == null ? new CopyOnWriteArrayList<>() : all;
          more.add(bell);
          return more;
        });
    begin();
    return () ->
        bells.computeIfPresent(
            said,
            (key, all) -> {
              all.remove(bell);
              return all.isEmpty() ? null : all;
            });
  }

  private synchronized void begin() {
    if (thread == null && closing.getCount() > 0) {
      thread = new Thread(this::loop, "carillon-postgres-doorbells");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void loop() {
    try {
      do {
        connectAndHear();
      } while (!closing.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends with the connection; listeners poll until there is another one, as always. */
  private void connectAndHear() {
    try {
      Connection connection = pool.borrow();
      boolean worked = false;
      try {
        hear(connection);
        worked = true;
      } finally {
        if (!worked) {
          connection.abort(Runnable::run); // it may still listen: nobody else can use it
        }
        pool.giveBack(connection, worked);
      }
    } catch (SQLException lost) {
      // Nothing is missing but the hints, and the next try comes after a pause.
      return;
    }
  }

  private void hear(Connection connection) throws SQLException {
    connection.setAutoCommit(true);
    int networkMillis = connection.getNetworkTimeout();
    connection.setNetworkTimeout(Runnable::run, NETWORK_MILLIS);
    PGConnection server = connection.unwrap(PGConnection.class);
    run(connection, "listen " + Session.quoted(channel));
    new ArrayList<>(bells.keySet()).forEach(this::heard);
    long probed = System.nanoTime();
    while (closing.getCount() > 0) {
      PGNotification[] notifications = server.getNotifications(WAIT_MILLIS);
      if (notifications != null) {
        for (PGNotification notification : notifications) {
          heard(notification.getParameter());
        }
      }
      if (System.nanoTime() - probed > PROBE_NANOS) {
        run(connection, "select 1");
        probed = System.nanoTime();
      }
    }
    run(connection, "unlisten *");
    connection.setNetworkTimeout(Runnable::run, networkMillis);
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void heard(String said) {
    for (Bell bell : bells.getOrDefault(said, List.of())) {
      bell.heard.run();
    }
  }

  @Override
  public void close() {
    closing.countDown();
    Thread listening;
    synchronized (this) {
      listening = thread;
    }
    if (listening != null) {
      ring(WAKE); // else it hears of it at the end of its wait
      try {
        listening.join(CLOSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
