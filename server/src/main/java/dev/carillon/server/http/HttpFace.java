package dev.carillon.server.http;

import dev.carillon.server.access.Access;
import dev.carillon.server.http.Problem.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http.UriCompliance.Violation;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/**
 * The listener: Jetty with one connector, its requests on virtual threads. {@link #start} opens the
 * port, {@link #stop} ends in order.
 */
public final class HttpFace {
  private static final int PLATFORM_THREADS = 16;
  private static final long LOOK_NANOS = Duration.ofMillis(10).toNanos();

  /** How long those that were interrupted have to answer. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);

  /** Segments are split before they are decoded, so that these mean nothing here. */
  private static final UriCompliance PATHS =
      UriCompliance.from(
          EnumSet.of(
              Violation.AMBIGUOUS_PATH_SEPARATOR,
              Violation.AMBIGUOUS_PATH_SEGMENT,
              Violation.AMBIGUOUS_PATH_ENCODING,
              Violation.AMBIGUOUS_EMPTY_SEGMENT,
              Violation.AMBIGUOUS_PATH_PARAMETER));

  private final InetAddress listens;
  private final Server server;
  private final ServerConnector connector;
  private final Admittance admittance;
  private final Connections connections;
  private final @Nullable TlsListener tls;

  /**
   * Where and how to listen.
   *
   * @param address the address; port 0 for any that is free
   * @param tls the certificate; null for no TLS
   * @param limits how much at once
   */
  public record Listening(InetSocketAddress address, @Nullable TlsOptions tls, HttpLimits limits) {}

  /**
   * A listener that is not open yet.
   *
   * @param listening where and how it will listen
   * @param router the routes
   * @param access who may
   * @param observers who is told of requests
   * @throws IOException if the certificate cannot be read
   */
  public HttpFace(Listening listening, Router router, Access access, List<Observer> observers)
      throws IOException {
    HttpLimits limits = listening.limits();
    TlsOptions encrypted = listening.tls();
    this.tls = encrypted != null ? new TlsListener(encrypted) : null;
    this.listens = listening.address().getAddress();
    this.admittance = new Admittance(limits);
    this.connections = new Connections(limits);
    QueuedThreadPool threads = new QueuedThreadPool(PLATFORM_THREADS);
    threads.setName("carillon-http");
    threads.setDaemon(true);
    threads.setVirtualThreadsExecutor(
        Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("carillon-request-", 1).factory()));
    this.server = new Server(threads);
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendXPoweredBy(false);
    http.setRequestHeaderSize(limits.headerBytes());
    http.setUriCompliance(PATHS);
    http.setIdleTimeout(limits.idle().toMillis());
    this.connector =
        new ServerConnector(
            server,
            1,
            1,
            tls != null
                ? tls.protocols(http)
                : new ConnectionFactory[] {new HttpConnectionFactory(http)});
    connector.setHost(listens.getHostAddress());
    connector.setPort(listening.address().getPort());
    connector.setIdleTimeout(limits.idle().toMillis());
    connector.addBean(connections);
    server.addConnector(connector);
    server.addBean(new NetworkConnectionLimit(limits.connections(), connector));
    server.setErrorHandler(HttpFace::refuse);
    server.setHandler(
        new RequestHandler(router, access, limits, admittance, connections, observers));
    server.setStopTimeout(0);
  }

  /**
   * Opens the port.
   *
   * @throws IOException if it cannot be opened
   */
  public void start() throws IOException {
    try {
      server.start();
      connections.sweep(connector.getScheduler());
      if (tls != null) {
        tls.start();
      }
    } catch (IOException e) {
      stopServer();
      throw e;
    } catch (Exception e) {
      stopServer();
      throw new IOException("the HTTP listener did not start", e);
    }
  }

  /** The address that it listens on. */
  public InetSocketAddress address() {
    return new InetSocketAddress(listens, connector.getLocalPort());
  }

  /** Whether it stops: streams end themselves then. */
  public boolean isStopping() {
    return admittance.isStopping();
  }

  /** How many requests are being served, without probes and streams. */
  public int requests() {
    return admittance.requests();
  }

  /** How many streams are open. */
  public int streams() {
    return admittance.streams();
  }

  /** From now on requests are refused with 503, probes excepted. */
  public void refuse() {
    admittance.stop();
  }

  /**
   * Refuses new requests, waits for those that run, has the rest answer what they know, then closes
   * the port.
   *
   * @param grace how long to wait at most
   */
  public void stop(Duration grace) {
    refuse();
    if (!awaitNone(grace)) {
      admittance.interrupt();
      boolean unused = awaitNone(LAST_WORDS);
    }
    stopServer();
  }

  private boolean awaitNone(Duration time) {
    long deadline = System.nanoTime() + time.toNanos();
    while (admittance.requests() + admittance.streams() > 0) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  /** Whether nothing is taken: no place, no room of bodies. */
  public boolean isIdle() {
    return admittance.isEmpty();
  }

  /** How many connections are open. */
  public int connections() {
    return connections.size();
  }

  private void stopServer() {
    if (tls != null) {
      tls.close();
    }
    try {
      server.stop();
    } catch (Exception e) {
      // It has no say in whether it stops; its threads are daemons.
    }
  }

  /** What Jetty itself refuses, such as a line that is no HTTP. */
  private static boolean refuse(Request request, Response response, Callback callback) {
    Kind kind =
        switch (response.getStatus()) {
          case 408 -> Kind.SLOW;
          case 413 -> Kind.TOO_LARGE;
          case 414, 431 -> Kind.HEADER;
          case 500 -> Kind.INTERNAL;
          case 503 -> Kind.STOPPING;
          default -> Kind.INVALID;
        };
    Answer answer = Problem.of(kind, "the request is not one by HTTP that is served here").answer();
    response.setStatus(answer.status());
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, answer.contentType());
    response.getHeaders().put(HttpHeader.CONNECTION, "close");
    response.write(true, ByteBuffer.wrap(answer.body()), callback);
    return true;
  }
}
