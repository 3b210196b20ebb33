package dev.carillon.worker;

import dev.carillon.api.JobHandler;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.Upcaster;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.json.StandardCodec;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Take;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a worker. To be used by one thread; begins with {@link CarillonWorker#builder()}.
 */
public final class WorkerBuilder {
  private static final int DEFAULT_PORT = 8471;
  private static final int DEFAULT_SLOTS = 100;
  private static final int MOST_SLOTS = 100_000;
  private static final int MOST_TAKES = 1_000;
  private static final int NAME_MAX_CHARS = 150;
  private static final Duration LEASE_MIN = Duration.ofSeconds(5);
  private static final Duration LEASE_MAX = Duration.ofHours(1);

  private final Set<String> servers = new TreeSet<>();
  private final Map<String, Registered> handlers = new LinkedHashMap<>();
  private final List<JobInterceptor> interceptors = new ArrayList<>();
  private final List<PayloadCodec> codecs = new ArrayList<>();
  private final Map<String, String> labels = new LinkedHashMap<>();
  private @Nullable Supplier<String> token;
  private @Nullable Path authorities;
  private @Nullable Path certificate;
  private @Nullable Path key;
  private boolean tls;
  private @Nullable String name;
  private String namespace = "";
  private String queue = "";
  private Duration lease = Duration.ofSeconds(20);
  private Duration drainTime = Duration.ofSeconds(30);
  private int slots = DEFAULT_SLOTS;
  private boolean leaseFirst;
  private boolean daemon;
  private boolean closesAtExit = true;

  WorkerBuilder() {}

  /**
   * A server to connect to. May be called several times: one that can be reached is enough, because
   * it names the others.
   *
   * @param address {@code host}, or {@code host:port} where the port is not 8471
   * @return this
   */
  public WorkerBuilder server(String address) {
    Limits.checkPresent("server", address);
    if (address.isBlank() || address.contains("/") || address.contains(" ")) {
      throw InvalidArgumentException.of("server", address, "host or host:port");
    }
    boolean hasPort = address.matches("([^:]+|\\[[^]]+]):[0-9]{1,5}");
    servers.add(hasPort ? address : address + ":" + DEFAULT_PORT);
    return this;
  }

  /**
   * The code that runs jobs of a type.
   *
   * @param type the type
   * @param handler its code
   * @return this
   * @param <I> the input
   * @param <O> the result
   * @throws InvalidArgumentException if the type has a handler
   */
  public <I, O> WorkerBuilder handle(
      JobType<I, O> type, JobHandler<? super I, ? extends O> handler) {
    Limits.checkPresent("handler", handler);
    return add(Registered.of(Limits.checkPresent("type", type), handler));
  }

  /**
   * The code that runs tasks of a type.
   *
   * @param type the type
   * @param handler its code
   * @return this
   * @param <I> the input
   * @throws InvalidArgumentException if the type has a handler
   */
  public <I> WorkerBuilder handle(TaskType<I> type, TaskHandler<? super I> handler) {
    Limits.checkPresent("handler", handler);
    return add(Registered.of(Limits.checkPresent("type", type), handler));
  }

  private WorkerBuilder add(Registered handler) {
    if (handlers.size() >= MOST_TAKES) {
      throw InvalidArgumentException.of("types", MOST_TAKES + 1, "at most " + MOST_TAKES);
    }
    if (handlers.putIfAbsent(handler.name(), handler) != null) {
      throw InvalidArgumentException.of(
          "type", handler.name(), "one without a handler; it has one");
    }
    return this;
  }

  /**
   * Brings inputs of older versions of a type to its current one.
   *
   * @param type the name of a type that has a handler
   * @param upcaster what does it
   * @return this
   */
  public WorkerBuilder upcaster(String type, Upcaster upcaster) {
    Limits.checkPresent("upcaster", upcaster);
    if (handlers.computeIfPresent(type, (n, handler) -> handler.upcaster(upcaster)) == null) {
      throw InvalidArgumentException.of("type", type, "one with a handler, said before");
    }
    return this;
  }

  /**
   * How many attempts run at once, over all servers.
   *
   * @param slots from 1 to 100,000; 100 by default
   * @return this
   */
  public WorkerBuilder slots(int slots) {
    if (slots < 1 || slots > MOST_SLOTS) {
      throw InvalidArgumentException.of("slots", slots, "1 to " + MOST_SLOTS);
    }
    this.slots = slots;
    return this;
  }

  /**
   * Takes jobs of one namespace alone; of all by default.
   *
   * @param namespace its name
   * @return this
   */
  public WorkerBuilder namespace(String namespace) {
    this.namespace = Limits.checkNamespace(namespace);
    return this;
  }

  /**
   * Takes jobs of one queue alone; of all by default.
   *
   * @param queue its name
   * @return this
   */
  public WorkerBuilder queue(String queue) {
    this.queue = Limits.checkQueue(queue);
    return this;
  }

  /**
   * The access token that servers ask for; it needs the role {@code worker}.
   *
   * @param token {@code crl_ID_SECRET}
   * @return this
   */
  public WorkerBuilder token(String token) {
    String checked = Limits.checkPresent("token", token).strip();
    return token(() -> checked);
  }

  /**
   * The access token, asked for with each connection: for tokens that are rotated.
   *
   * @param token gives it
   * @return this
   */
  public WorkerBuilder token(Supplier<String> token) {
    this.token = Limits.checkPresent("token", token);
    return this;
  }

  /**
   * Speaks TLS with servers whose certificates the JDK trusts.
   *
   * @return this
   */
  public WorkerBuilder tls() {
    tls = true;
    return this;
  }

  /**
   * Speaks TLS with servers that these authorities certify.
   *
   * @param authorities certificates as PEM
   * @return this
   */
  public WorkerBuilder tls(Path authorities) {
    this.authorities = Limits.checkPresent("authorities", authorities);
    return tls();
  }

  /**
   * Shows a certificate to servers, which may stand for a token.
   *
   * @param certificate PEM, with those that lead to its authority
   * @param key PEM, PKCS#8 and not encrypted
   * @return this
   */
  public WorkerBuilder certificate(Path certificate, Path key) {
    this.certificate = Limits.checkPresent("certificate", certificate);
    this.key = Limits.checkPresent("key", key);
    return tls();
  }

  /**
   * What the worker is called; each start adds a random part.
   *
   * @param name at most 150 characters; the host's by default
   * @return this
   */
  public WorkerBuilder name(String name) {
    if (Limits.checkPresent("name", name).isBlank() || name.length() > NAME_MAX_CHARS) {
      throw InvalidArgumentException.of("name", name, "1 to " + NAME_MAX_CHARS + " characters");
    }
    this.name = name;
    return this;
  }

  /**
   * Something for people to know the worker by.
   *
   * @param label such as {@code zone}
   * @param value its value
   * @return this
   */
  public WorkerBuilder label(String label, String value) {
    labels.put(Limits.checkPresent("label", label), Limits.checkPresent("value", value));
    return this;
  }

  /**
   * How long servers wait for this worker when they hear nothing of it, before an attempt that
   * lasts longer than a second counts as lost.
   *
   * @param lease from 5 seconds to an hour; 20 seconds by default
   * @return this
   */
  public WorkerBuilder lease(Duration lease) {
    Limits.checkPresent("lease", lease);
    if (lease.compareTo(LEASE_MIN) < 0 || lease.compareTo(LEASE_MAX) > 0) {
      throw InvalidArgumentException.of("lease", lease, LEASE_MIN + " to " + LEASE_MAX);
    }
    this.lease = lease;
    return this;
  }

  /**
   * Has each attempt leased before it begins, which costs a write to the store for each: also one
   * that lasts less than a second is then not made again because its server died.
   *
   * @return this
   */
  public WorkerBuilder leaseFirst() {
    leaseFirst = true;
    return this;
  }

  /**
   * A codec of payloads. The first one writes; all of them read, by name. JSON by default, as the
   * library writes it.
   *
   * @param codec the codec
   * @return this
   */
  public WorkerBuilder codec(PayloadCodec codec) {
    codecs.add(Limits.checkPresent("codec", codec));
    return this;
  }

  /**
   * Code around every attempt.
   *
   * @param interceptor the first is the outermost
   * @return this
   */
  public WorkerBuilder interceptor(JobInterceptor interceptor) {
    interceptors.add(Limits.checkPresent("interceptor", interceptor));
    return this;
  }

  /**
   * How long handlers may go on when the worker is closed.
   *
   * @param drainTime 30 seconds by default
   * @return this
   */
  public WorkerBuilder drainTime(Duration drainTime) {
    if (Limits.checkPresent("drainTime", drainTime).isNegative()) {
      throw InvalidArgumentException.of("drainTime", drainTime, "not negative");
    }
    this.drainTime = drainTime;
    return this;
  }

  /**
   * Whether the process may end while the worker runs.
   *
   * @param daemon false by default
   * @return this
   */
  public WorkerBuilder daemon(boolean daemon) {
    this.daemon = daemon;
    return this;
  }

  /**
   * Whether the worker is closed when the process is told to stop.
   *
   * @param closesAtExit true by default
   * @return this
   */
  public WorkerBuilder closesAtExit(boolean closesAtExit) {
    this.closesAtExit = closesAtExit;
    return this;
  }

  /**
   * Starts a worker with these settings. It returns at once and connects meanwhile, again and again
   * where that fails: see {@link CarillonWorker#info()}.
   *
   * @return the worker
   * @throws InvalidArgumentException if it has no server or no handler, or a certificate cannot be
   *     read
   */
  public CarillonWorker start() {
    if (servers.isEmpty()) {
      throw InvalidArgumentException.of("servers", 0, "at least one");
    }
    if (handlers.isEmpty()) {
      throw InvalidArgumentException.of("handlers", 0, "at least one");
    }
    return CarillonWorker.start(this);
  }

  // ---- for the worker

  Set<String> servers() {
    return Set.copyOf(servers);
  }

  Map<String, Registered> handlers() {
    return Map.copyOf(handlers);
  }

  List<JobInterceptor> interceptors() {
    return List.copyOf(interceptors);
  }

  WorkerPayloads payloads() {
    List<PayloadCodec> all = new ArrayList<>(codecs);
    all.add(new StandardCodec());
    return new WorkerPayloads(all);
  }

  String fullName() {
    String base = name != null ? name : hostName();
    return base + "-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
  }

  private static String hostName() {
    try {
      String host = InetAddress.getLocalHost().getHostName();
      return host.isBlank() || host.length() > NAME_MAX_CHARS ? "worker" : host;
    } catch (UnknownHostException e) {
      return "worker";
    }
  }

  Hello hello(String fullName) {
    Hello.Builder hello =
        Hello.newBuilder()
            .setWorker(fullName)
            .setSlots(slots)
            .setLeaseFirst(leaseFirst)
            .setLibrary("java")
            .putAllLabels(labels);
    for (String type : handlers.keySet()) {
      hello.addTakes(
          Take.newBuilder()
              .setNamespace(namespace)
              .setQueue(queue)
              .setType(type)
              .setLeaseMillis((int) lease.toMillis()));
    }
    return hello.build();
  }

  GrpcStreams.Options streams() {
    return new GrpcStreams.Options(tls ? sslContext() : null, token);
  }

  private SslContext sslContext() {
    SslContextBuilder context = GrpcSslContexts.forClient();
    try {
      if (authorities != null) {
        context.trustManager(authorities.toFile());
      }
      if (certificate != null && key != null) {
        context.keyManager(certificate.toFile(), key.toFile());
      }
      return context.build();
    } catch (SSLException | IllegalArgumentException e) {
      throw new InvalidArgumentException(
          "tls: %s, %s, %s: %s (expected: PEM files)"
              .formatted(authorities, certificate, key, e.getMessage()),
          e);
    }
  }

  int slots() {
    return slots;
  }

  Duration drainTime() {
    return drainTime;
  }

  boolean isDaemon() {
    return daemon;
  }

  boolean closesAtExit() {
    return closesAtExit;
  }
}
