package dev.carillon.server.gateway;

import dev.carillon.Carillon;
import dev.carillon.gateway.WorkerConnection;
import dev.carillon.gateway.WorkerHello;
import dev.carillon.gateway.WorkerTake;
import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Members;
import dev.carillon.protocol.Welcome;
import dev.carillon.protocol.WorkersGrpc;
import dev.carillon.server.access.Access;
import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Denied;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.TlsOptions;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listener for workers. Thread-safe. */
public final class Gateway implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Gateway.class);
  private static final long LOOK_MILLIS = 500;
  private static final long STOP_SECONDS = 2;
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Carillon carillon;
  private final Access access;
  private final GatewayLimits limits;
  private final GatewayFigures figures;
  private final Set<WorkerSession> sessions = ConcurrentHashMap.newKeySet();
  private final ExecutorService writers =
      Executors.newFixedThreadPool(
          2, Thread.ofPlatform().daemon().name("carillon-workers-", 1).factory());
  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("carillon-workers-clock").factory());
  private final Server server;
  private final @Nullable GatewayTls tls;
  private final AtomicBoolean checking = new AtomicBoolean();
  private volatile @Nullable Peers peers;
  private volatile boolean stopping;

  // The clock's own.
  private long checkedNanos = System.nanoTime();

  /**
   * Where and how it listens.
   *
   * @param address where
   * @param advertised {@code host:port} by which workers reach it; null for that address
   * @param tls null for no TLS
   * @param limits how much it takes
   */
  public record Listening(
      InetSocketAddress address,
      @Nullable String advertised,
      @Nullable TlsOptions tls,
      GatewayLimits limits) {}

  private Gateway(Carillon carillon, Access access, Listening listening, GatewayFigures figures)
      throws IOException {
    this.carillon = carillon;
    this.access = access;
    this.limits = listening.limits();
    this.figures = figures;
    TlsOptions options = listening.tls();
    this.tls = options != null ? new GatewayTls(options) : null;
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(listening.address())
            .directExecutor() // callbacks hand over and return
            .maxInboundMessageSize(limits.messageBytes())
            .maxConcurrentCallsPerConnection(16)
            .handshakeTimeout(10, TimeUnit.SECONDS)
            .permitKeepAliveTime(5, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .addService(service());
    if (tls != null) {
      builder.sslContext(tls.context());
    }
    this.server = builder.build();
  }

  /**
   * Opens the port.
   *
   * @param carillon the node; not a client
   * @param access who may connect
   * @param listening where
   * @param figures what is counted
   * @return a listener that answers
   * @throws IOException if the port cannot be opened
   */
  public static Gateway start(
      Carillon carillon, Access access, Listening listening, GatewayFigures figures)
      throws IOException {
    Gateway gateway = new Gateway(carillon, access, listening, figures);
    try {
      var unused = gateway.server.start();
    } catch (IOException e) {
      gateway.stopThreads();
      throw e;
    }
    gateway.peers = new Peers(carillon, gateway.advertised(listening), gateway::tellMembers);
    figures.streams(gateway.sessions::size);
    var looking =
        gateway.looks.scheduleWithFixedDelay(
            gateway::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    Objects.requireNonNull(looking);
    return gateway;
  }

  /** As other machines reach it, as far as that can be known here. */
  private String advertised(Listening listening) {
    String given = listening.advertised();
    if (given != null) {
      return given;
    }
    InetAddress at = address().getAddress();
    String host = at.getHostAddress();
    if (at.isAnyLocalAddress()) {
      try {
        host = InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException e) {
        host = InetAddress.getLoopbackAddress().getHostAddress();
      }
    }
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address().getPort();
  }

  private void tellMembers(List<String> addresses) {
    Members members = Members.newBuilder().addAllAddresses(addresses).build();
    sessions.forEach(session -> session.members(members));
  }

  /** The address that it listens on. */
  public InetSocketAddress address() {
    SocketAddress first = server.getListenSockets().getFirst();
    return (InetSocketAddress) first;
  }

  private ServerServiceDefinition service() {
    return ServerServiceDefinition.builder(WorkersGrpc.SERVICE_NAME)
        .addMethod(WorkersGrpc.getWorkMethod(), this::open)
        .build();
  }

  private ServerCall.Listener<FromWorker> open(
      ServerCall<FromWorker, FromServer> call, Metadata headers) {
    Arrival arrival = arrival(call, headers);
    WorkerSession session = new WorkerSession(call, new Desk(arrival), writers, limits);
    if (arrival.address().isAnyLocalAddress()) {
      session.end(Status.PERMISSION_DENIED.withDescription("an address that is none of TCP"));
      return session;
    }
    if (stopping) {
      session.end(Status.UNAVAILABLE.withDescription("the server stops"));
      return session;
    }
    sessions.add(session);
    if (sessions.size() > limits.streams()) {
      session.end(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "streams: more than " + limits.streams() + " at once"));
      return session;
    }
    call.sendHeaders(new Metadata());
    call.request(1);
    return session;
  }

  private static Arrival arrival(ServerCall<?, ?> call, Metadata headers) {
    Attributes attributes = call.getAttributes();
    SocketAddress remote = attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    SSLSession session = attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    String authorization = headers.get(AUTHORIZATION);
    return new Arrival(
        remote instanceof InetSocketAddress inet
            ? inet.getAddress()
            : new InetSocketAddress(0).getAddress(),
        session != null,
        false,
        host(Objects.requireNonNullElse(call.getAuthority(), "")),
        subject(session),
        authorization != null ? Map.of("authorization", authorization) : Map.of());
  }

  private static String host(String authority) {
    int colon = authority.lastIndexOf(':');
    boolean port = colon > authority.lastIndexOf(']');
    return (port ? authority.substring(0, colon) : authority).toLowerCase(Locale.ROOT);
  }

  private static @Nullable X500Principal subject(@Nullable SSLSession session) {
    if (session == null) {
      return null;
    }
    try {
      Principal peer = session.getPeerPrincipal();
      return peer instanceof X500Principal certified ? certified : null;
    } catch (SSLPeerUnverifiedException e) {
      return null; // it has shown none
    }
  }

  /** What a session has done for it. */
  private final class Desk implements WorkerSession.Desk {
    private final Arrival arrival;

    Desk(Arrival arrival) {
      this.arrival = arrival;
    }

    @Override
    public WorkerConnection connect(WorkerSession session, WorkerHello hello, Hello said) {
      Caller caller = check(hello);
      WorkerConnection connection = carillon.node().workers().connect(hello, session);
      LOG.info(
          "worker {} is connected from {} ({}), as {}, with {} slots for {} types",
          hello.worker(),
          arrival.address().getHostAddress(),
          said.getLibrary().isEmpty() ? "?" : printable(said.getLibrary()),
          caller.name(),
          said.getSlots(),
          hello.takes().size());
      figures.connected();
      return connection;
    }

    @Override
    public void checkAgain(WorkerHello hello) {
      check(hello);
    }

    private Caller check(WorkerHello hello) {
      Caller caller;
      try {
        caller = access.identify(arrival);
      } catch (Denied e) {
        Status status = e.isUnknown() ? Status.UNAUTHENTICATED : Status.PERMISSION_DENIED;
        throw new WorkerSession.Refused(status.withDescription(e.getMessage()));
      }
      hello.takes().forEach(take -> Gateway.check(caller, take));
      return caller;
    }

    @Override
    public FromServer welcome() {
      Peers known = peers;
      List<String> addresses = known != null ? known.addresses() : List.of();
      return FromServer.newBuilder()
          .setWelcome(
              Welcome.newBuilder()
                  .setNode(carillon.node().id())
                  .setMembers(Members.newBuilder().addAllAddresses(addresses)))
          .build();
    }

    @Override
    public void ended(WorkerSession session, String why) {
      sessions.remove(session);
      if (session.worker().isEmpty()) {
        LOG.info("no worker from {}: {}", arrival.address().getHostAddress(), why);
        figures.refused();
      } else {
        LOG.info("worker {} is not connected any more: {}", session.worker(), why);
        figures.ended();
      }
    }
  }

  private static String printable(String text) {
    return text.replaceAll("\\p{Cntrl}", "?");
  }

  private static void check(Caller caller, WorkerTake take) {
    String namespace = take.namespace().isEmpty() ? null : take.namespace();
    String where = namespace != null ? "namespace " + namespace : "all namespaces";
    if (!caller.has(Role.WORKER, namespace)) {
      throw denied(
          take,
          "the role worker in " + where + "; a worker of some namespaces names them in its takes");
    }
    boolean reaches =
        take.queue().isEmpty() ? caller.reachesAllQueues() : caller.mayUse(namespace, take.queue());
    if (!reaches) {
      throw denied(
          take, "a queue of the caller's; a worker of some queues names them in its takes");
    }
  }

  private static WorkerSession.Refused denied(WorkerTake take, String expected) {
    return new WorkerSession.Refused(
        Status.PERMISSION_DENIED.withDescription(
            "take of type %s, queue %s, namespace %s: not the caller's (expected: %s)"
                .formatted(any(take.type()), any(take.queue()), any(take.namespace()), expected)));
  }

  private static String any(String name) {
    return name.isEmpty() ? "*" : name;
  }

  private void look() {
    long now = System.nanoTime();
    for (WorkerSession session : sessions) {
      session.look(now, limits);
    }
    if (now - checkedNanos >= CHECK_NANOS && checking.compareAndSet(false, true)) {
      checkedNanos = now;
      Thread.ofVirtual().name("carillon-workers-check").start(this::checkAgain);
    }
    if (tls != null) {
      tls.look();
    }
  }

  /** Tokens end and are revoked, also those of workers that are connected. */
  private void checkAgain() {
    try {
      sessions.forEach(WorkerSession::checkAgain);
      Peers known = peers;
      if (known != null && !stopping) {
        known.look();
      }
    } finally {
      checking.set(false);
    }
  }

  /** Takes no further worker. */
  public void beginStop() {
    Peers known = peers;
    if (!stopping && known != null) {
      stopping = true;
      known.leave();
    }
    stopping = true;
  }

  /**
   * Ends all streams and closes the port. What workers have goes on. To be called once the node is
   * closed, which leases what they have, and tells them.
   */
  @Override
  public void close() {
    beginStop();
    for (WorkerSession session : sessions) {
      session.end(Status.UNAVAILABLE.withDescription("the server stops"));
    }
    var unused = server.shutdown();
    try {
      if (!server.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        var forced = server.shutdownNow();
        Objects.requireNonNull(forced);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      var forced = server.shutdownNow();
      Objects.requireNonNull(forced);
    }
    stopThreads();
  }

  private void stopThreads() {
    looks.shutdownNow();
    writers.shutdown();
  }
}
