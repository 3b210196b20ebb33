package dev.carillon.server.http;

import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.server.access.Access;
import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Denied;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Problem.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.security.auth.x500.X500Principal;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** The way of a request through the steps that the page of this room lists. */
final class RequestHandler extends Handler.Abstract {
  private static final byte[] NO_BODY = {};
  private static final int DRAINED_BYTES = 64 << 10;
  private static final long DRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long STILL_LET_IN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Router router;
  private final Access access;
  private final HttpLimits limits;
  private final Admittance admittance;
  private final Connections connections;
  private final List<Observer> observers;

  RequestHandler(
      Router router,
      Access access,
      HttpLimits limits,
      Admittance admittance,
      Connections connections,
      List<Observer> observers) {
    this.router = router;
    this.access = access;
    this.limits = limits;
    this.admittance = admittance;
    this.connections = connections;
    this.observers = List.copyOf(observers);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    new Exchange(request, response).run(callback);
    return true;
  }

  /** One request and its answer. */
  private final class Exchange {
    private final Request request;
    private final Response response;
    private final long begun = System.nanoTime();
    private @Nullable Route route;
    private @Nullable Caller caller;
    private @Nullable Arrival arrival;
    private Map<String, String> variables = Map.of();
    private Admittance.@Nullable Place place;
    private boolean bodyTaken;
    private boolean unread;
    private long letInNanos = begun;

    Exchange(Request request, Response response) {
      this.request = request;
      this.response = response;
    }

    void run(Callback callback) {
      Connection connection = request.getConnectionMetaData().getConnection();
      connections.begins(connection);
      try {
        Answer answer = answer();
        boolean unused = Thread.interrupted(); // what it was to say is said by the answer
        observe(answer.status());
        send(answer);
        callback.succeeded();
      } catch (Throwable e) { // the client is gone, or does not read
        callback.failed(e);
      } finally {
        connections.ends(connection);
        if (place != null) {
          place.close();
        }
      }
    }

    private Answer answer() throws ClientGone {
      try {
        return serve();
      } catch (ClientGone e) {
        throw e;
      } catch (Throwable e) {
        if (!bodyTaken && hasBody()) {
          unread = !drained();
        }
        Problem problem = Problems.of(e, route != null ? route.operation() : "a request");
        Answer answer = problem.answer();
        String allow = problem.more().get("allow");
        if (allow != null) {
          answer = answer.header("Allow", allow);
        }
        return problem.kind() == Kind.UNAUTHENTICATED
            ? answer.header("WWW-Authenticate", "Bearer")
            : answer;
      }
    }

    private Answer serve() throws Exception {
      Router.Match match = router.match(request.getMethod(), rawPath());
      Route found = match.route();
      route = found;
      variables = match.variables();
      Admittance.Place taken = admittance.enter(stay(found));
      place = taken;
      Arrival came = arrival(found);
      arrival = came;
      Caller asks = letIn(found, came);
      taken.of(asks.name());
      Map<String, List<String>> query =
          Router.query(request.getHttpURI().getQuery(), found.query());
      Answer answer =
          found
              .handler()
              .handle(new Call(found, asks, came, variables, query, body(found, came, taken)));
      if (found.waits()) {
        var unused = letIn(found, came); // what it waited for is for those who still may
      }
      return answer;
    }

    private static Admittance.Stay stay(Route found) {
      if (found.waits()) {
        return Admittance.Stay.STREAM;
      }
      return found.role() == Role.ANYONE ? Admittance.Stay.PROBE : Admittance.Stay.REQUEST;
    }

    private String rawPath() {
      String path = request.getHttpURI().getPath();
      return path == null ? "" : path;
    }

    private Arrival arrival(Route found) {
      Map<String, String> headers = new HashMap<>();
      for (HttpField field : request.getHeaders()) {
        String name = field.getName().toLowerCase(Locale.ROOT);
        String before = headers.putIfAbsent(name, String.valueOf(field.getValue()));
        if (before != null && name.equals(Call.IDEMPOTENCY_KEY)) {
          throw Problem.of(Kind.INVALID, "Idempotency-Key: given more than once (expected: once)")
              .refusal();
        }
      }
      String host = request.getHttpURI().getHost();
      return new Arrival(
          address(),
          request.isSecure(),
          found.method().reads(),
          host == null ? "" : host.toLowerCase(Locale.ROOT),
          subject(),
          Map.copyOf(headers));
    }

    private @Nullable X500Principal subject() {
      if (request.getAttribute(EndPoint.SslSessionData.ATTRIBUTE)
          instanceof EndPoint.SslSessionData tls) {
        X509Certificate[] shown = tls.peerCertificates();
        return shown != null && shown.length > 0 ? shown[0].getSubjectX500Principal() : null;
      }
      return null;
    }

    private InetAddress address() {
      if (request.getConnectionMetaData().getRemoteSocketAddress()
          instanceof InetSocketAddress remote) {
        return remote.getAddress();
      }
      throw Problem.of(Kind.FORBIDDEN, "address: not known").refusal();
    }

    // ---- the body

    private boolean hasBody() {
      return request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING)
          || request.getHeaders().getLongField(HttpHeader.CONTENT_LENGTH) > 0;
    }

    /** Takes a small body of a refused request off the connection, which can go on then. */
    private boolean drained() throws ClientGone {
      long length = request.getLength();
      if (length < 0 || length > DRAINED_BYTES || place == null) {
        return false;
      }
      long deadline = System.nanoTime() + DRAIN_NANOS;
      while (true) {
        Content.Chunk chunk = request.read();
        if (chunk == null) {
          try {
            await(deadline);
          } catch (Problem.Refusal late) {
            return false;
          }
          continue;
        }
        if (Content.Chunk.isFailure(chunk)) {
          throw new ClientGone(chunk.getFailure());
        }
        chunk.release();
        if (chunk.isLast()) {
          return true;
        }
      }
    }

    private byte[] body(Route found, Arrival came, Admittance.Place taken) throws ClientGone {
      if (found.method() == Method.GET || found.method() == Method.DELETE) {
        unread = hasBody() && !drained();
        bodyTaken = true;
        return NO_BODY;
      }
      requireJson(came);
      bodyTaken = true;
      int most = found.body().maxBytes();
      if (request.getLength() > most) {
        unread = true;
        throw tooLarge(most);
      }
      return request.getLength() == 0 ? NO_BODY : read(most, taken);
    }

    /** Also where there is no body: a page of another site cannot send this type unasked. */
    private static void requireJson(Arrival came) {
      String type = came.header("content-type");
      String plain = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
      if (!plain.equals("application/json")) {
        throw Problem.of(
                Kind.MEDIA_TYPE,
                "Content-Type: %s (expected: application/json)"
                    .formatted(type == null ? "none" : '"' + plain + '"'))
            .refusal();
      }
    }

    private Problem.Refusal tooLarge(int most) {
      return Problem.of(Kind.TOO_LARGE, "body: more than " + most + " bytes (expected: at most so)")
          .refusal();
    }

    private byte[] read(int most, Admittance.Place taken) throws ClientGone {
      long deadline = System.nanoTime() + limits.bodyTime().toNanos();
      unread = true;
      BodyParts parts = new BodyParts();
      while (true) {
        Content.Chunk chunk = request.read();
        if (chunk == null) {
          await(deadline);
          continue;
        }
        if (Content.Chunk.isFailure(chunk)) { // told to a client that is still there
          throw Problem.of(
                  Kind.INVALID,
                  "body: it broke off, or is no body by HTTP (expected: as it was announced)")
              .refusal();
        }
        int size = chunk.remaining();
        try {
          if (parts.size() + size > most) {
            throw tooLarge(most);
          }
          taken.take(size);
          parts.add(chunk.getByteBuffer());
        } finally {
          chunk.release();
        }
        if (chunk.isLast()) {
          unread = false;
          if (parts.isOne()) {
            return parts.join();
          }
          taken.take(parts.size()); // for a moment it is there twice
          byte[] whole = parts.join();
          taken.giveBack(whole.length);
          return whole;
        }
      }
    }

    private void await(long deadline) {
      CountDownLatch more = new CountDownLatch(1);
      request.demand(more::countDown);
      boolean came;
      try {
        came = more.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        came = false;
      }
      if (!came && admittance.isStopping()) {
        throw Problem.of(Kind.STOPPING, "the server stops; nothing was done").refusal();
      }
      if (!came) {
        throw Problem.of(
                Kind.SLOW, "body: not there after " + limits.bodyTime() + "; nothing was done")
            .refusal();
      }
    }

    // ---- the answer

    private void observe(int status) {
      Route found = route;
      if (found == null) {
        return;
      }
      Observer.Served served =
          new Observer.Served(found, caller, arrival, variables, status, System.nanoTime() - begun);
      observers.forEach(observer -> observer.served(served));
    }

    private void send(Answer answer) throws IOException {
      response.setStatus(answer.status());
      response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
      response.getHeaders().put("X-Content-Type-Options", "nosniff");
      if (!answer.contentType().isEmpty()) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, answer.contentType());
      }
      answer.headers().forEach((name, value) -> response.getHeaders().put(name, value));
      if (unread && request.getConnectionMetaData().getHttpVersion().getVersion() < 20) {
        response.getHeaders().put(HttpHeader.CONNECTION, "close");
      }
      Answer.Stream stream = answer.stream();
      if (stream == null) {
        Content.Sink.write(response, true, ByteBuffer.wrap(answer.body()));
        return;
      }
      stream.write(
          bytes -> {
            requireStillLetIn();
            Content.Sink.write(response, false, ByteBuffer.wrap(bytes));
          });
      Content.Sink.write(response, true, ByteBuffer.allocate(0));
    }

    /** A stream ends soon after its caller may no more: it writes at least every few seconds. */
    private void requireStillLetIn() throws IOException {
      long now = System.nanoTime();
      Route found = route;
      Arrival came = arrival;
      if (found == null || came == null || now - letInNanos < STILL_LET_IN_NANOS) {
        return;
      }
      letInNanos = now;
      try {
        letIn(found, came);
      } catch (Denied | Problem.Refusal | StoreUnavailableException e) {
        throw new IOException("the caller is not let in any more", e);
      }
    }

    private Caller letIn(Route found, Arrival came) {
      Caller asks = AccessCheck.caller(access, came, found);
      caller = asks;
      AccessCheck.check(asks, found, variables);
      return asks;
    }
  }

  /** The client went away while it sent: there is nobody to answer. */
  private static final class ClientGone extends Exception {
    private static final long serialVersionUID = 1L;

    ClientGone(@Nullable Throwable cause) {
      super("the client is gone", cause);
    }
  }
}
