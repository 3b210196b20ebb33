package dev.carillon;

import static dev.carillon.OptionChecks.bad;
import static dev.carillon.OptionChecks.positive;
import static dev.carillon.OptionChecks.range;
import static dev.carillon.OptionChecks.text;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.JobListener;
import dev.carillon.api.Limits;
import dev.carillon.api.Metrics;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.Rate;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.environment.HistoryLimit;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.json.Jackson2Codec;
import dev.carillon.json.JacksonCodec;
import dev.carillon.json.StandardCodec;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link Carillon}; every one has a default that is right for most. Only the store
 * must be said: {@link #url}, {@link #dataSource}, {@link #store} or {@link #inMemory()}. Options
 * that few need are behind {@link #advanced}. Not thread-safe.
 */
public final class CarillonBuilder {
  private static final int MOST_NODE_ID_BYTES = 200;

  @Nullable Store store;
  @Nullable String url;
  @Nullable DataSource dataSource;
  Duration storeWait = Duration.ZERO;
  @Nullable NodeIdProvider nodeIds;
  private boolean clientOnly;
  int slots = 1024;
  Duration successRetention = Duration.ofDays(7);
  Duration failureRetention = Duration.ofDays(30);
  Duration closeGrace = Duration.ofSeconds(30);
  FailurePolicy failurePolicy = FailurePolicy.standard();
  boolean daemon;
  PayloadCodec codec = new StandardCodec();
  Metrics metrics = Metrics.none();
  final List<JobInterceptor> interceptors = new ArrayList<>();
  final List<JobListener> listeners = new ArrayList<>();
  final Map<String, FailurePolicy> namespacePolicies = new HashMap<>();

  final FlowDefaults flow = new FlowDefaults();
  final AdvancedOptions advanced = new AdvancedOptions(flow);

  CarillonBuilder() {}

  /**
   * The store at a URL.
   *
   * @param url {@code jdbc:sqlite:FILE} with the artifact {@code carillon-sqlite}; {@code
   *     jdbc:postgresql://HOST/DATABASE} with {@code carillon-postgres}
   * @return this
   */
  public CarillonBuilder url(String url) {
    this.url = text("url", url);
    return this;
  }

  /**
   * The store behind a data source of PostgreSQL, or of SQLite, of which only the URL is used. It
   * is not closed with Carillon.
   *
   * <p>The node has connections of its own: handlers and callers who hold all connections of the
   * data source do not keep it from its store. It connects as the data source does where that is
   * one of HikariCP or of PostgreSQL's driver, or a wrapper of one; at most 21 connections, see
   * {@code poolSize} of {@link AdvancedOptions#storeOption}. From any other data source it takes 6
   * connections when it is opened and keeps them until it is closed.
   *
   * @param dataSource the data source
   * @return this
   */
  public CarillonBuilder dataSource(DataSource dataSource) {
    this.dataSource = Limits.checkPresent("dataSource", dataSource);
    return this;
  }

  /**
   * How long opening waits for a store that cannot be reached yet, as where the application starts
   * before its database. Opening fails at once for whatever waiting does not mend: a wrong user,
   * password or database, a missing right, a store of a newer version, one that another process has
   * locked. A host whose name is not known yet is waited for.
   *
   * @param storeWait zero by default: opening fails at once
   * @return this
   */
  public CarillonBuilder waitForStore(Duration storeWait) {
    this.storeWait = range("waitForStore", storeWait, Duration.ZERO, Duration.ofDays(1));
    return this;
  }

  /**
   * The database schema of a store in PostgreSQL, made where it is missing.
   *
   * @param schema {@code carillon} by default
   * @return this
   */
  public CarillonBuilder schema(String schema) {
    advanced.storeOption("schema", schema);
    return this;
  }

  /**
   * Whose jobs a store in PostgreSQL shows: clusters that share a schema do not see each other.
   *
   * @param cluster {@code main} by default
   * @return this
   */
  public CarillonBuilder cluster(String cluster) {
    advanced.storeOption("cluster", cluster);
    return this;
  }

  /**
   * A store that is open already. It is closed with Carillon.
   *
   * @param store the store
   * @return this
   */
  public CarillonBuilder store(Store store) {
    this.store = Limits.checkPresent("store", store);
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
    this.nodeIds = Limits.checkPresent("nodeIds", nodeIds);
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
   * How long ended jobs stay readable; see {@link AdvancedOptions#deadLetterRetention} for dead
   * ones.
   *
   * @param successes 7 days by default
   * @param failures 30 days by default
   * @return this
   */
  public CarillonBuilder retention(Duration successes, Duration failures) {
    this.successRetention = range("successes", successes, Duration.ZERO, OptionChecks.LONGEST);
    this.failureRetention = range("failures", failures, Duration.ZERO, OptionChecks.LONGEST);
    return this;
  }

  /**
   * What follows a failed attempt where neither the job nor its handler nor its namespace says.
   *
   * @param policy {@link FailurePolicy#standard()} by default
   * @return this
   */
  public CarillonBuilder failurePolicy(FailurePolicy policy) {
    this.failurePolicy = Limits.checkPresent("policy", policy);
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
    namespacePolicies.put(text("namespace", namespace), Limits.checkPresent("policy", policy));
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
   * What turns payloads into bytes.
   *
   * @param codec by default JSON: by {@link JacksonCodec}, or by {@link Jackson2Codec} where
   *     Jackson 3 does not load; made with the first payload
   * @return this
   */
  public CarillonBuilder codec(PayloadCodec codec) {
    this.codec = Limits.checkPresent("codec", codec);
    return this;
  }

  /**
   * Code around every attempt; the first added is outermost.
   *
   * @param interceptor the interceptor
   * @return this
   */
  public CarillonBuilder intercept(JobInterceptor interceptor) {
    interceptors.add(Limits.checkPresent("interceptor", interceptor));
    return this;
  }

  /**
   * Told of what happens to the jobs of this node.
   *
   * @param listener the listener
   * @return this
   */
  public CarillonBuilder listen(JobListener listener) {
    listeners.add(Limits.checkPresent("listener", listener));
    return this;
  }

  /**
   * Where figures go.
   *
   * @param metrics nowhere by default
   * @return this
   */
  public CarillonBuilder metrics(Metrics metrics) {
    this.metrics = Limits.checkPresent("metrics", metrics);
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
    flow.limit(FlowSubject.Scope.QUEUE, text("queue", queue), limit);
    return this;
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
    flow.rate(FlowSubject.Scope.QUEUE, text("queue", queue), rate);
    return this;
  }

  /**
   * The options that few need: timing of the cluster, memory, retention of rare things.
   *
   * <pre>{@code
   * builder.advanced(a -> a.memberTimeout(Duration.ofSeconds(5)).jmx(true))
   * }</pre>
   *
   * @param change sets some of them; called at once
   * @return this
   */
  public CarillonBuilder advanced(Consumer<AdvancedOptions> change) {
    Limits.checkPresent("change", change).accept(advanced);
    return this;
  }

  /**
   * Opens the store and starts. There is nothing else to start.
   *
   * @return what is open until it is closed
   * @throws dev.carillon.api.error.InvalidArgumentException if no store, or more than one, was
   *     said, or its URL is not supported
   * @throws dev.carillon.api.error.StoreLockedException if another process has the store
   * @throws dev.carillon.api.error.StoreUnavailableException if the store cannot be reached or
   *     written
   * @throws dev.carillon.api.error.StoreRefusedException if the user, the password, the database or
   *     the host is wrong, or the user lacks a right
   * @throws dev.carillon.api.error.StoreVersionException if a newer version wrote the store
   * @throws dev.carillon.api.error.StoreCorruptedException if the store is damaged
   */
  public Carillon open() {
    return Carillon.open(this);
  }

  NodeOptions nodeOptions(SecureRandom random, Store opened) {
    long incarnation = random.nextLong();
    while (incarnation == 0) {
      incarnation = random.nextLong();
    }
    boolean shared = advanced.isShared(opened);
    if (clientOnly && !shared) {
      throw new InvalidArgumentException(
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
        advanced.slowStart,
        advanced.loadHorizon,
        defaults.overdueAfter(),
        advanced.aloneTime,
        successRetention,
        failureRetention,
        advanced.deadLetterRetention,
        advanced.keyRetention,
        defaults.maxQueued() + advanced.maxWaitingJobs, // what ends jobs waits there as well
        defaults.maxQueuedBytes() + advanced.maxWaitingBytes,
        defaults.maxShardJobs(),
        defaults.maxShardBytes(),
        Math.min(defaults.bodyBudgetBytes(), advanced.payloadMemoryBytes),
        failurePolicy,
        advanced.packFromJobs,
        advanced.historyBytes,
        Set.copyOf(advanced.indexedMetadata),
        new HistoryLimit(advanced.workflowHistoryEntries, advanced.workflowHistoryBytes),
        shared ? membership(ids.returns(), opened.longestStatement()) : null);
  }

  private Membership membership(boolean returns, Duration longestStatement) {
    Membership all = advanced.membership(returns, longestStatement);
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
          value,
          "text of at most " + MOST_NODE_ID_BYTES + " bytes in UTF-8 without control characters");
    }
    return value;
  }
}
