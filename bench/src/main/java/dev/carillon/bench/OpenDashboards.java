package dev.carillon.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Open overviews, each in a browser of its own: all its questions every five seconds, and a stream
 * that it gives up for a minute when too much happens.
 */
final class OpenDashboards implements AutoCloseable {
  private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int BUSY_EVENTS = 200;

  private final List<Thread> threads = new ArrayList<>();
  private final ThreadMXBean times = ManagementFactory.getThreadMXBean();
  private final LongAdder requests = new LongAdder();
  private final InetSocketAddress server;
  private volatile boolean over;

  OpenDashboards(InetSocketAddress server, int count) {
    this.server = server;
    for (int i = 0; i < count; i++) {
      long begin = EVERY_NANOS * i / count;
      threads.add(Thread.ofPlatform().name("dashboard-" + i).start(() -> play(begin)));
      threads.add(Thread.ofPlatform().name("stream-" + i).start(() -> listen(begin)));
    }
  }

  private void play(long beginNanos) {
    LockSupport.parkNanos(beginNanos);
    try (ApiConnection connection = new ApiConnection(server)) {
      while (!over) {
        for (String path : DashboardPages.OVERVIEW) {
          var unused = connection.send(ApiConnection.get(path), 200);
          requests.increment();
        }
        LockSupport.parkNanos(EVERY_NANOS);
      }
    } catch (IOException e) {
      if (!over) {
        throw new IllegalStateException("a dashboard ended", e);
      }
    }
  }

  private void listen(long beginNanos) {
    LockSupport.parkNanos(beginNanos);
    while (!over) {
      try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
        socket.setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(EVERY_NANOS));
        socket
            .getOutputStream()
            .write(
                "GET /v1/namespaces/default/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII));
        readUntilBusy(socket);
      } catch (IOException e) {
        // cut: it comes back
      }
      if (!over) {
        LockSupport.parkNanos(REST_NANOS);
      }
    }
  }

  private void readUntilBusy(Socket socket) throws IOException {
    InputStream in = new BufferedInputStream(socket.getInputStream());
    int lines = 0;
    for (int b = in.read(); b >= 0 && lines < 3 * BUSY_EVENTS && !over; b = in.read()) {
      lines += b == '\n' ? 1 : 0;
    }
  }

  /** What the clients themselves have cost. */
  long cpuNanos() {
    long sum = 0;
    for (Thread thread : threads) {
      sum += Math.max(0, times.getThreadCpuTime(thread.threadId()));
    }
    return sum;
  }

  long requests() {
    return requests.sum();
  }

  @Override
  public void close() {
    over = true;
    threads.forEach(Thread::interrupt);
    try {
      for (Thread thread : threads) {
        thread.join(TimeUnit.SECONDS.toMillis(10));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
