package dev.carillon.server.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * The connections by client. One address has at most half of all; a connection beyond that is
 * closed as it comes. One whose request does not come, byte by byte, is closed when the time for it
 * is over: silence alone is the connector's business. Thread-safe.
 */
final class Connections implements Connection.Listener {
  private static final long SWEEP_SECONDS = 1;

  private final HttpLimits limits;
  private final Map<Connection, Held> held = new ConcurrentHashMap<>();
  private final Map<InetAddress, Integer> ofClient = new ConcurrentHashMap<>();

  Connections(HttpLimits limits) {
    this.limits = limits;
  }

  /** What is known of a connection. */
  private static final class Held {
    final InetAddress client;
    private int serving;
    private long servedBytes;
    private long sinceNanos;
    private boolean waits;

    Held(InetAddress client) {
      this.client = client;
    }

    synchronized void begins() {
      serving++;
      waits = false;
    }

    synchronized void ends(long bytes) {
      serving--;
      servedBytes = bytes;
    }

    /** Whether a part of a request has been there for that long, and no more. */
    synchronized boolean isStuck(long bytes, long nowNanos, long mostNanos) {
      if (serving > 0 || bytes == servedBytes) {
        waits = false;
      } else if (!waits) {
        waits = true;
        sinceNanos = nowNanos;
      }
      return waits && nowNanos - sinceNanos > mostNanos;
    }
  }

  @Override
  public void onOpened(Connection connection) {
    InetAddress client = clientOf(connection);
    if (client == null) {
      return;
    }
    held.put(connection, new Held(client));
    if (ofClient.merge(client, 1, Integer::sum) > HttpLimits.half(limits.connections())) {
      connection.getEndPoint().close();
    }
  }

  @Override
  public void onClosed(Connection connection) {
    Held gone = held.remove(connection);
    if (gone != null) {
      ofClient.compute(gone.client, (c, count) -> count == null || count <= 1 ? null : count - 1);
    }
  }

  /** Those that carry requests, not what lies below them. */
  private static @Nullable InetAddress clientOf(Connection connection) {
    return connection instanceof ConnectionMetaData metaData
            && metaData.getRemoteSocketAddress() instanceof InetSocketAddress remote
        ? remote.getAddress()
        : null;
  }

  void begins(Connection connection) {
    Held serving = held.get(connection);
    if (serving != null) {
      serving.begins();
    }
  }

  void ends(Connection connection) {
    Held serving = held.get(connection);
    if (serving != null) {
      serving.ends(connection.getBytesIn());
    }
  }

  int size() {
    return held.size();
  }

  /** Looks again and again, as long as there is something that schedules. */
  void sweep(Scheduler scheduler) {
    long now = System.nanoTime();
    held.forEach(
        (connection, each) -> {
          if (each.isStuck(connection.getBytesIn(), now, limits.bodyTime().toNanos())) {
            connection.getEndPoint().close();
          }
        });
    if (scheduler.isRunning()) {
      var unused = scheduler.schedule(() -> sweep(scheduler), SWEEP_SECONDS, TimeUnit.SECONDS);
    }
  }
}
