package dev.carillon;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.JobListener;
import dev.carillon.api.Metrics;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.Rate;
import dev.carillon.engine.Flow;
import dev.carillon.engine.FlowSetting;
import dev.carillon.engine.Membership;
import dev.carillon.engine.Node;
import dev.carillon.engine.NodeOptions;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link Carillon}; every one has a default that is right for most. Only the store
 * must be said: {@link #url}, {@link #dataSource}, {@link #store} or {@link #inMemory()}. Not
 * thread-safe.
 */
public final class CarillonBuilder {
  private static final int MOST_WAITING_JOBS = 1_000_000;
  private static final long MOST_WAITING_BYTES = 1L << 38;

  private static final Duration LONGEST = Duration.ofDays(36_500);

  private static final int MOST_NODE_ID_BYTES = 200;

  /** The kind of a store that is gone with its process. */
  private static final String MEMORY = "memory";

  /** How many signs of life a node gives within the time after which it is dead. */
  private static final int BEATS = 5;

  @Nullable Store store;
  @Nullable String url;
  @Nullable DataSource dataSource;
  final Map<String, String> storeOptions = new TreeMap<>();
  @Nullable NodeIdProvider nodeIds;
  @Nullable Duration memberTimeout;
  Duration forgetAfter = Duration.ofMinutes(10);
  private @Nullable Duration clockLimit;
  private boolean lending = true;
  private boolean clientOnly;
  TimeSource time = TimeSource.system();
  private boolean ownClock;
  int slots = 1024;
  Duration slowStart = Duration.ofSeconds(1);
  Duration loadHorizon = Duration.ofMinutes(1);
  Duration successRetention = Duration.ofDays(7);
  Duration failureRetention = Duration.ofDays(30);
  Duration deadLetterRetention = NodeOptions.FOREVER;
  Duration keyRetention = Duration.ofDays(1);
  Duration aloneTime = Duration.ofSeconds(10);
  Duration scheduleTimeout = Duration.ofSeconds(30);
  Duration closeGrace = Duration.ofSeconds(30);
  FailurePolicy failurePolicy = FailurePolicy.standard();
  int maxWaitingJobs = 200_000;
  long maxWaitingBytes = 128 << 20;
  long historyBytes = 10L << 30;
  int packFromJobs = 256;
  boolean daemon;
  boolean jmx;
  PayloadCodec codec = new JacksonCodec();
  Metrics metrics = Metrics.none();
  final List<PayloadCodec> otherCodecs = new ArrayList<>();
  final List<JobInterceptor> interceptors = new ArrayList<>();
  final List<JobListener> listeners = new ArrayList<>();
  final List<Consumer<Node>> flowSettings = new ArrayList<>();
  final Set<String> indexedMetadata = new HashSet<>();
  final Map<String, FailurePolicy> namespacePolicies = new HashMap<>();

  CarillonBuilder() {}

  /**
   * The store at a URL.
   *
   * @param url {@code jdbc:sqlite:FILE}; {@code jdbc:postgresql://HOST/DATABASE} with the artifact
   *     {@code carillon-store-postgres}
   * @return this
   */
  public CarillonBuilder url(String url) {
    this.url = Objects.requireNonNull(url, "url");
    return this;
  }

  /**
   * The store behind a data source of PostgreSQL, whose connections are borrowed and given back as
   * they were, or of SQLite, of which only the URL is used. It is not closed with Carillon.
   *
   * @param dataSource the data source
   * @return this
   */
  public CarillonBuilder dataSource(DataSource dataSource) {
    this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
    return this;
  }

  /**
   * The database schema of a store in PostgreSQL, made where it is missing.
   *
   * @param schema {@code carillon} by default
   * @return this
   */
  public CarillonBuilder schema(String schema) {
    return storeOption("schema", schema);
  }

  /**
   * Whose jobs a store in PostgreSQL shows: clusters that share a schema do not see each other.
   *
   * @param cluster {@code main} by default
   * @return this
   */
  public CarillonBuilder cluster(String cluster) {
    return storeOption("cluster", cluster);
  }

  /**
   * A setting of the store, by its name there. For PostgreSQL these are the fields of {@code
   * PostgresOptions}: {@code poolSize}, {@code statementTimeout}, {@code push}, {@code pooler}, …
   * They can also stand in the URL, as {@code carillon.poolSize=4}.
   *
   * @param name the name
   * @param value its value; a duration as {@code 2s} or {@code P8D}
   * @return this
   */
  public CarillonBuilder storeOption(String name, String value) {
    storeOptions.put(text("store option", name), Objects.requireNonNull(value, "value"));
    return this;
  }

  /**
   * A store that is open already. It is closed with Carillon.
   *
   * @param store the store
   * @return this
   */
  public CarillonBuilder store(Store store) {
    this.store = Objects.requireNonNull(store, "store");
    return this;
  }

  /**
   * A new store in memory, gone with the process.
   *
   * @return this
   */
  public CarillonBuilder inMemory() {
    return store(new MemoryStore());
  }

  /**
   * The id of this node, stable across its restarts: it finds its own open shards by it.
   *
   * @param nodeId the name of the host by default where several nodes may share the store, {@code
   *     local} where only one process can open it
   * @return this
   */
  public CarillonBuilder nodeId(String nodeId) {
    return nodeId(NodeIdProvider.of(nodeId("nodeId", nodeId)));
  }

  /**
   * Who says what this node is called, and whether it may come back under that id.
   *
   * @param nodeIds {@link NodeIdProvider#hostName()} by default, see {@link #nodeId(String)}
   * @return this
   */
  public CarillonBuilder nodeId(NodeIdProvider nodeIds) {
    this.nodeIds = nodeIds;
    return this;
  }

  /**
   * How long after its last sign of life a node is dead to the others that share its store: they
   * take its jobs over. A node that cannot reach the store stops its own work a little before. Five
   * signs are given in that time.
   *
   * @param memberTimeout 2.5 seconds by default; of no effect on a store that only one process can
   *     open. A store in memory is shared by several nodes of one process only where this is said.
   * @return this
   */
  public CarillonBuilder memberTimeout(Duration memberTimeout) {
    this.memberTimeout =
        range("memberTimeout", memberTimeout, Duration.ofMillis(100), Duration.ofHours(1));
    return this;
  }

  /**
   * How long after its last sign of life a node is expected back: until then others look after its
   * jobs but add none to its shards. At least {@link #memberTimeout} and ten seconds, in which its
   * handlers stop, also where less is set.
   *
   * @param forgetAfter 10 minutes by default
   * @return this
   */
  public CarillonBuilder forgetAfter(Duration forgetAfter) {
    this.forgetAfter = range("forgetAfter", forgetAfter, Duration.ofSeconds(1), LONGEST);
    return this;
  }

  /**
   * Whether due jobs of this node run on others that share its store where this one has had no slot
   * for a tenth of a second or has no handler, and such of others here. Limits and outcomes stay
   * with the node whose jobs they are; where either node dies the attempt is made again.
   *
   * @param lending true by default; of no effect on a node that has its store to itself
   * @return this
   */
  public CarillonBuilder lending(boolean lending) {
    this.lending = lending;
    return this;
  }

  /**
   * Whether this node only schedules, asks and reads: it owns no jobs and runs no handlers. What
   * changes something goes to one of the other nodes and is answered when it is durable there;
   * where none is there it is refused. If that node dies meanwhile the caller hears that the
   * outcome is unknown.
   *
   * @param clientOnly false by default; needs a store that several nodes share
   * @return this
   */
  public CarillonBuilder clientOnly(boolean clientOnly) {
    this.clientOnly = clientOnly;
    return this;
  }

  /**
   * How far this node's clock may be from that of a store that it shares: beyond it nothing starts
   * on this node until the clock is right again. From half a second on there is a warning.
   *
   * @param clockLimit 30 seconds by default; with a {@link #timeSource} of its own the node's clock
   *     is not compared, unless this is said
   * @return this
   */
  public CarillonBuilder clockLimit(Duration clockLimit) {
    this.clockLimit = range("clockLimit", clockLimit, Duration.ofSeconds(1), LONGEST);
    return this;
  }

  /**
   * The clocks to live by, for tests. Such a node takes itself for the only one on its store,
   * unless {@link #memberTimeout} is said: others cannot tell by its clock whether it lives.
   *
   * @param time the clocks of this machine by default
   * @return this
   */
  public CarillonBuilder timeSource(TimeSource time) {
    this.time = Objects.requireNonNull(time, "time");
    this.ownClock = true;
    return this;
  }

  /**
   * How many attempts run at once on this node.
   *
   * @param slots 1024 by default
   * @return this
   */
  public CarillonBuilder slots(int slots) {
    this.slots = positive("slots", slots);
    return this;
  }

  /**
   * How long the slots take to double after a start, from 64, so that a backlog does not hit
   * everything at once.
   *
   * @param slowStart a second by default; zero for all slots at once
   * @return this
   */
  public CarillonBuilder slowStart(Duration slowStart) {
    this.slowStart = range("slowStart", slowStart, Duration.ZERO, Duration.ofDays(1));
    return this;
  }

  /**
   * How far ahead jobs are read into memory.
   *
   * @param loadHorizon a minute by default
   * @return this
   */
  public CarillonBuilder loadHorizon(Duration loadHorizon) {
    this.loadHorizon = range("loadHorizon", loadHorizon, Duration.ofSeconds(1), LONGEST);
    return this;
  }

  /**
   * How long ended jobs stay readable; see {@link #deadLetterRetention} for dead ones.
   *
   * @param successes 7 days by default
   * @param failures 30 days by default
   * @return this
   */
  public CarillonBuilder retention(Duration successes, Duration failures) {
    this.successRetention = range("successes", successes, Duration.ZERO, LONGEST);
    this.failureRetention = range("failures", failures, Duration.ZERO, LONGEST);
    return this;
  }

  /**
   * How much room jobs that ended well may take. Beyond it the oldest of them go before their
   * {@link #retention}; failures and dead letters are not counted, and jobs whose idempotency key
   * still counts stay.
   *
   * @param bytes 10 GiB by default; 0 for any amount
   * @return this
   */
  public CarillonBuilder historyBytes(long bytes) {
    if (bytes < 0) {
      throw bad("historyBytes", bytes, "0 or more");
    }
    this.historyBytes = bytes;
    return this;
  }

  /** From how many jobs on an idle shard is packed, for tests. */
  CarillonBuilder packFromJobs(int jobs) {
    this.packFromJobs = positive("packFromJobs", jobs);
    return this;
  }

  /**
   * How long a job that may have killed its node runs alone when it is tried again; and how long
   * any attempt runs before it counts as harmless.
   *
   * @param aloneTime ten seconds by default
   * @return this
   */
  public CarillonBuilder aloneTime(Duration aloneTime) {
    this.aloneTime = range("aloneTime", aloneTime, Duration.ofMillis(1), Duration.ofHours(1));
    return this;
  }

  /**
   * How long dead letters stay that nobody discards.
   *
   * @param retention a hundred years by default
   * @return this
   */
  public CarillonBuilder deadLetterRetention(Duration retention) {
    this.deadLetterRetention = range("deadLetterRetention", retention, Duration.ZERO, LONGEST);
    return this;
  }

  /**
   * How long an idempotency key is remembered after its job ended.
   *
   * @param keyRetention a day by default
   * @return this
   */
  public CarillonBuilder keyRetention(Duration keyRetention) {
    this.keyRetention = range("keyRetention", keyRetention, Duration.ZERO, LONGEST);
    return this;
  }

  /**
   * What follows a failed attempt where neither the job nor its handler nor its namespace says.
   *
   * @param policy {@link FailurePolicy#standard()} by default
   * @return this
   */
  public CarillonBuilder failurePolicy(FailurePolicy policy) {
    this.failurePolicy = Objects.requireNonNull(policy, "policy");
    return this;
  }

  /**
   * What follows a failed attempt in a namespace where neither the job nor its handler says.
   *
   * @param namespace the namespace
   * @param policy the policy
   * @return this
   */
  public CarillonBuilder failurePolicy(String namespace, FailurePolicy policy) {
    namespacePolicies.put(text("namespace", namespace), Objects.requireNonNull(policy, "policy"));
    return this;
  }

  /**
   * How long a call waits for room and for the store. Afterwards its caller is told what is known:
   * not done, or unknown.
   *
   * @param scheduleTimeout 30 seconds by default
   * @return this
   */
  public CarillonBuilder scheduleTimeout(Duration scheduleTimeout) {
    this.scheduleTimeout =
        range("scheduleTimeout", scheduleTimeout, Duration.ofMillis(1), Duration.ofDays(1));
    return this;
  }

  /**
   * How long closing waits for running handlers before it interrupts them.
   *
   * @param closeGrace 30 seconds by default
   * @return this
   */
  public CarillonBuilder closeGrace(Duration closeGrace) {
    this.closeGrace = range("closeGrace", closeGrace, Duration.ZERO, Duration.ofDays(1));
    return this;
  }

  /**
   * How much may wait for the store before callers are held back.
   *
   * @param jobs 200,000 by default, at most 1,000,000
   * @param bytes 128 MiB by default, at most 256 GiB
   * @return this
   */
  public CarillonBuilder maxWaiting(int jobs, long bytes) {
    if (jobs < 1 || jobs > MOST_WAITING_JOBS) {
      throw bad("jobs", jobs, "1 to " + MOST_WAITING_JOBS);
    }
    if (bytes < 1 || bytes > MOST_WAITING_BYTES) {
      throw bad("bytes", bytes, "1 to " + MOST_WAITING_BYTES);
    }
    this.maxWaitingJobs = jobs;
    this.maxWaitingBytes = bytes;
    return this;
  }

  /**
   * Whether the process may end while Carillon is open.
   *
   * @param daemon false by default: a program that only runs jobs stays alive until it is closed
   * @return this
   */
  public CarillonBuilder daemon(boolean daemon) {
    this.daemon = daemon;
    return this;
  }

  /**
   * Whether the node is shown over JMX, as {@link CarillonMXBean}.
   *
   * @param jmx false by default
   * @return this
   */
  public CarillonBuilder jmx(boolean jmx) {
    this.jmx = jmx;
    return this;
  }

  /**
   * What turns payloads into bytes.
   *
   * @param codec {@link JacksonCodec} by default
   * @return this
   */
  public CarillonBuilder codec(PayloadCodec codec) {
    this.codec = Objects.requireNonNull(codec, "codec");
    return this;
  }

  /**
   * A codec that only reads what it wrote when it was the one in use.
   *
   * @param codec the former codec
   * @return this
   */
  public CarillonBuilder alsoRead(PayloadCodec codec) {
    otherCodecs.add(Objects.requireNonNull(codec, "codec"));
    return this;
  }

  /**
   * Code around every attempt; the first added is outermost.
   *
   * @param interceptor the interceptor
   * @return this
   */
  public CarillonBuilder intercept(JobInterceptor interceptor) {
    interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
    return this;
  }

  /**
   * Told of what happens to the jobs of this node.
   *
   * @param listener the listener
   * @return this
   */
  public CarillonBuilder listen(JobListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return this;
  }

  /**
   * Where figures go.
   *
   * @param metrics nowhere by default
   * @return this
   */
  public CarillonBuilder metrics(Metrics metrics) {
    this.metrics = Objects.requireNonNull(metrics, "metrics");
    return this;
  }

  /**
   * Declares keys of metadata by which jobs are looked for: {@code list} then passes over packed
   * history without such a job. Jobs are found without it too, by reading what there is.
   *
   * @param keys none by default
   * @return this
   */
  public CarillonBuilder indexMetadata(String... keys) {
    for (String key : keys) {
      indexedMetadata.add(text("metadata key", key));
    }
    return this;
  }

  /**
   * How many attempts of a queue, over all namespaces and nodes, run at once, unless {@link
   * Carillon#queue} says otherwise.
   *
   * @param queue the queue
   * @param limit at least 1
   * @return this
   */
  public CarillonBuilder limitQueue(String queue, int limit) {
    return flow(Flow.Scope.QUEUE, text("queue", queue), limit(limit));
  }

  /**
   * How many attempts of a namespace run at once on all nodes, unless {@link Carillon#namespace}
   * says otherwise.
   *
   * @param namespace the namespace
   * @param limit at least 1
   * @return this
   */
  public CarillonBuilder limitNamespace(String namespace, int limit) {
    return flow(Flow.Scope.NAMESPACE, text("namespace", namespace), limit(limit));
  }

  private static UnaryOperator<FlowSetting> limit(int limit) {
    int checked = positive("limit", limit);
    return setting -> setting.limit(checked);
  }

  /**
   * How often attempts of a queue, over all namespaces, start, unless {@link Carillon#queue} says
   * otherwise.
   *
   * @param queue the queue
   * @param rate so many in a period
   * @return this
   */
  public CarillonBuilder rateQueue(String queue, Rate rate) {
    return flow(Flow.Scope.QUEUE, text("queue", queue), rate(rate));
  }

  /**
   * How often attempts of a namespace start, unless {@link Carillon#namespace} says otherwise.
   *
   * @param namespace the namespace
   * @param rate so many in a period
   * @return this
   */
  public CarillonBuilder rateNamespace(String namespace, Rate rate) {
    return flow(Flow.Scope.NAMESPACE, text("namespace", namespace), rate(rate));
  }

  private static UnaryOperator<FlowSetting> rate(Rate rate) {
    Objects.requireNonNull(rate, "rate");
    return setting -> setting.rate(rate);
  }

  private CarillonBuilder flow(Flow.Scope scope, String name, UnaryOperator<FlowSetting> change) {
    flowSettings.add(node -> node.standardFlow(new Flow.Subject(scope, name), change));
    return this;
  }

  /**
   * Opens the store and starts. There is nothing else to start.
   *
   * @return what is open until it is closed
   * @throws IllegalArgumentException if no store, or more than one, was said, or its URL is not
   *     supported
   * @throws dev.carillon.api.StoreLockedException if another process has the store
   * @throws dev.carillon.api.StoreUnavailableException if the store cannot be reached or written
   * @throws dev.carillon.api.StoreVersionException if a newer version wrote the store
   * @throws dev.carillon.api.StoreCorruptedException if the store is damaged
   */
  public Carillon open() {
    return Carillon.open(this);
  }

  NodeOptions nodeOptions(SecureRandom random, Store opened) {
    long incarnation = random.nextLong();
    while (incarnation == 0) {
      incarnation = random.nextLong();
    }
    boolean shared = isShared(opened);
    if (clientOnly && !shared) {
      throw new IllegalArgumentException(
          "clientOnly: true on a store of kind "
              + opened.info().kind()
              + " (expected: one that several nodes share)");
    }
    NodeIdProvider ids =
        nodeIds != null ? nodeIds : shared ? NodeIdProvider.hostName() : NodeIdProvider.of("local");
    String nodeId = nodeId("nodeId", ids.nodeId());
    NodeOptions defaults = NodeOptions.of(nodeId, incarnation);
    return new NodeOptions(
        nodeId,
        incarnation,
        slots,
        slowStart,
        loadHorizon,
        defaults.overdueAfter(),
        aloneTime,
        successRetention,
        failureRetention,
        deadLetterRetention,
        keyRetention,
        defaults.maxQueued() + maxWaitingJobs, // what ends jobs waits there as well
        defaults.maxQueuedBytes() + maxWaitingBytes,
        defaults.maxShardJobs(),
        defaults.maxShardBytes(),
        Math.min(defaults.bodyBudgetBytes(), Runtime.getRuntime().maxMemory() / 8),
        failurePolicy,
        packFromJobs,
        historyBytes,
        Set.copyOf(indexedMetadata),
        shared ? membership(ids.returns()) : null);
  }

  /** Whether other nodes may use the store; one that lives by a clock of its own is alone. */
  private boolean isShared(Store opened) {
    StoreInfo info = opened.info(); // also where somebody has wrapped a store in memory
    boolean ownProcess = (info.kind().equals(MEMORY) || ownClock) && memberTimeout == null;
    return !ownProcess && !info.can(StoreInfo.Capability.SINGLE_PROCESS);
  }

  private Membership membership(boolean returns) {
    Duration timeout = memberTimeout != null ? memberTimeout : Membership.standard().timeout();
    Duration forget = forgetAfter.compareTo(timeout) < 0 ? timeout : forgetAfter;
    Duration clocks = clockLimit == null && !ownClock ? Membership.CLOCK_LIMIT : clockLimit;
    Membership all =
        new Membership(timeout.dividedBy(BEATS), timeout, forget, returns, clocks, lending, false);
    return clientOnly ? all.asClient() : all;
  }

  private static String nodeId(String what, String value) {
    text(what, value);
    int bytes = value.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MOST_NODE_ID_BYTES
        || !StandardCharsets.UTF_8.newEncoder().canEncode(value)
        || value.chars().anyMatch(Character::isISOControl)) {
      throw bad(
          what,
          '"' + value + '"',
          "text of at most " + MOST_NODE_ID_BYTES + " bytes in UTF-8 without control characters");
    }
    return value;
  }

  private static String text(String what, String value) {
    if (value.isBlank()) {
      throw bad(what, "\"\"", "not blank");
    }
    return value;
  }

  static int positive(String what, int value) {
    if (value < 1) {
      throw bad(what, value, "at least 1");
    }
    return value;
  }

  private static Duration range(String what, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw bad(what, value, min + " to " + max);
    }
    return value;
  }

  private static IllegalArgumentException bad(String what, Object value, String expected) {
    return new IllegalArgumentException(what + ": " + value + " (expected: " + expected + ")");
  }
}
