package dev.carillon.server.webhook;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * Sends one request over a connection of its own and reads the answer. The connection is made to an
 * address that was checked, under the name that was asked for: its certificate must be of that
 * name. No redirect is followed, no proxy is used, nothing is unpacked.
 *
 * <p>Everything ends at the deadline: a thread of its own closes the connection then, whether it is
 * being made, written or read. An interrupt of a virtual thread does the same. Thread-safe.
 */
final class HttpExchange {
  private static final long CONNECT_MILLIS = 10_000;
  private static final long IDLE_SECONDS = 10;

  /** Connects a socket. */
  @FunctionalInterface
  interface Dialer {
    void connect(Socket socket, InetSocketAddress address, int millis) throws IOException;
  }

  private final SSLSocketFactory tls;
  private final Dialer dialer;
  private final ScheduledThreadPoolExecutor ends;

  HttpExchange(SSLSocketFactory tls, Dialer dialer) {
    this.tls = tls;
    this.dialer = dialer;
    this.ends =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("carillon-webhook-ends").factory());
    ends.setRemoveOnCancelPolicy(true);
    ends.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    ends.allowCoreThreadTimeOut(true);
  }

  /**
   * Where a request goes.
   *
   * @param encrypted whether by TLS
   * @param host the name, for the certificate
   * @param port the port
   * @param addresses the checked addresses of the name, tried in turn
   */
  record Target(boolean encrypted, String host, int port, List<InetAddress> addresses) {}

  /**
   * Sends and receives.
   *
   * @param target where to
   * @param message what
   * @param mostBody how much of the answer's body to read
   * @param deadline when it is over
   * @return the answer
   * @throws WebhookFailed if there was none
   * @throws InterruptedException if the attempt is to end
   */
  HttpReply send(Target target, HttpMessage message, int mostBody, Deadline deadline)
      throws InterruptedException {
    IOException last = null;
    for (InetAddress address : target.addresses()) {
      try (Connection connection = new Connection(deadline)) {
        try {
          connection.open(address, target);
        } catch (SSLException e) {
          throw failed("TLS: " + e.getMessage(), connection);
        } catch (IOException e) {
          if (connection.over || Thread.currentThread().isInterrupted()) {
            throw failed("", connection);
          }
          last = e;
          continue;
        }
        return connection.exchange(message, mostBody);
      }
    }
    throw new WebhookFailed(
        "connecting: " + (last == null ? "nothing to connect to" : last.getMessage()));
  }

  private static WebhookFailed failed(String what, Connection connection)
      throws InterruptedException {
    if (connection.over) {
      return new WebhookFailed("no answer within " + connection.deadline.whole());
    }
    if (Thread.interrupted()) {
      throw new InterruptedException("the attempt is to end");
    }
    return new WebhookFailed(what);
  }

  /** One connection, closed at the deadline. */
  private final class Connection implements AutoCloseable {
    private final Deadline deadline;
    private final Socket socket = new Socket(Proxy.NO_PROXY);
    private final ScheduledFuture<?> end;
    private Socket stream = socket;
    private volatile boolean over;

    Connection(Deadline deadline) {
      this.deadline = deadline;
      this.end = ends.schedule(this::end, deadline.left().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The socket below: closing that of TLS might wait for whoever writes. */
    private void end() {
      over = true;
      closeSocket();
    }

    void open(InetAddress address, Target target) throws IOException {
      int millis = (int) Math.min(CONNECT_MILLIS, deadline.left().toMillis() + 1);
      dialer.connect(socket, new InetSocketAddress(address, target.port()), millis);
      socket.setTcpNoDelay(true);
      if (target.encrypted()) {
        SSLSocket secured =
            (SSLSocket) tls.createSocket(socket, target.host(), target.port(), true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        stream = secured;
        secured.startHandshake();
      }
    }

    /** An answer may come before all was sent, and without the rest being wanted. */
    HttpReply exchange(HttpMessage message, int mostBody) throws InterruptedException {
      IOException unsent = null;
      try {
        OutputStream out = stream.getOutputStream();
        out.write(message.head());
        out.write(message.body());
        out.flush();
      } catch (IOException e) {
        unsent = e;
      }
      try {
        HttpReply reply =
            new ReplyReader(new BufferedInputStream(stream.getInputStream()))
                .read(message.method().equals("HEAD"), mostBody);
        if (Thread.interrupted() && !reply.isSuccess()) {
          throw new InterruptedException("the attempt is to end");
        }
        return reply;
      } catch (IOException e) {
        throw failed(
            unsent != null ? "sending: " + unsent.getMessage() : "the answer: " + e.getMessage(),
            this);
      }
    }

    private void closeSocket() {
      try {
        socket.close();
      } catch (IOException e) {
        // It is of no more use in any case.
      }
    }

    @Override
    public void close() {
      end.cancel(false);
      closeSocket();
    }
  }
}
