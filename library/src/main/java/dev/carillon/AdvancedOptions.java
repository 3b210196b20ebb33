package dev.carillon;

import static dev.carillon.OptionChecks.bad;
import static dev.carillon.OptionChecks.positive;
import static dev.carillon.OptionChecks.range;
import static dev.carillon.OptionChecks.text;

import dev.carillon.api.Limits;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.Rate;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.environment.HistoryLimit;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The options that few need: timing of the cluster, room and memory, retention of rare things, and
 * what tests set. Given by {@link CarillonBuilder#advanced}; every one has a default that is right
 * for most. Not thread-safe.
 */
public final class AdvancedOptions {
  private static final int LEAST_HISTORY_ENTRIES = 10;
  private static final int LEAST_HISTORY_BYTES = 10_000;

  private static final int MOST_WAITING_JOBS = 1_000_000;
  private static final long MOST_WAITING_BYTES = 1L << 38;

  /** The kind of a store that is gone with its process. */
  private static final String MEMORY = "memory";

  /** How many heartbeats a node gives within the time after which it is dead. */
  private static final int HEARTBEATS = 5;

  final Map<String, String> storeOptions = new TreeMap<>();
  private @Nullable Duration memberTimeout;
  private Duration forgetAfter = Duration.ofMinutes(10);
  private @Nullable Duration clockLimit;
  private boolean lending = true;
  TimeSource time = TimeSource.system();
  private boolean ownClock;
  Duration slowStart = Duration.ofSeconds(1);
  Duration loadHorizon = Duration.ofMinutes(1);
  Duration deadLetterRetention = NodeOptions.FOREVER;
  Duration keyRetention = Duration.ofDays(1);
  Duration aloneTime = Duration.ofSeconds(10);
  Duration scheduleTimeout = Duration.ofSeconds(30);
  int maxWaitingJobs = 200_000;
  long maxWaitingBytes = 128 << 20;
  long historyBytes = 10L << 30;
  int packFromJobs = 256;

  /** Payloads of loaded jobs in memory; fewer than the default for tests only. */
  long payloadMemoryBytes = Runtime.getRuntime().maxMemory() / 8;

  boolean jmx;
  boolean workers;
  int parkedWorkflows = 50_000;
  int workflowHistoryEntries = HistoryLimit.STANDARD.entries();
  long workflowHistoryBytes = HistoryLimit.STANDARD.bytes();
  final List<PayloadCodec> otherCodecs = new ArrayList<>();
  final Set<String> indexedMetadata = new HashSet<>();
  private final FlowDefaults flow;

  AdvancedOptions(FlowDefaults flow) {
    this.flow = flow;
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
  public AdvancedOptions storeOption(String name, String value) {
    storeOptions.put(text("store option", name), Limits.checkPresent(name, value));
    return this;
  }

  /**
   * How long after its last sign of life a node is dead to the others that share its store: they
   * take its jobs over. A node that cannot reach the store stops its own work a little before. Five
   * signs are given in that time.
   *
   * <p>More than the statement timeout of a store in PostgreSQL (2 seconds by default, {@code
   * statementTimeout} of {@link #storeOption}), else opening refuses it: one slow statement would
   * make a node that lives dead to the others, who would then wait for the locks of that statement.
   *
   * @param memberTimeout 2.5 seconds by default; of no effect on a store that only one process can
   *     open. A store in memory is shared by several nodes of one process only where this is said.
   * @return this
   */
  public AdvancedOptions memberTimeout(Duration memberTimeout) {
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
  public AdvancedOptions forgetAfter(Duration forgetAfter) {
    this.forgetAfter =
        range("forgetAfter", forgetAfter, Duration.ofSeconds(1), OptionChecks.LONGEST);
    return this;
  }

  /**
   * Whether due jobs of this node run on others that share its store where this one has had no slot
   * for a tenth of a second or has no handler, and such of others here. Limits and outcomes stay
   * with the node whose jobs they are; where either node dies the attempt is made again. Workers
   * that are connected to other nodes alone run this node's jobs only with it.
   *
   * @param lending true by default; of no effect on a node that has its store to itself
   * @return this
   */
  public AdvancedOptions lending(boolean lending) {
    this.lending = lending;
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
  public AdvancedOptions clockLimit(Duration clockLimit) {
    this.clockLimit = range("clockLimit", clockLimit, Duration.ofSeconds(1), OptionChecks.LONGEST);
    return this;
  }

  /**
   * The clocks to live by, for tests. Such a node takes itself for the only one on its store,
   * unless {@link #memberTimeout} is said: others cannot tell by its clock whether it lives.
   *
   * @param time the clocks of this machine by default
   * @return this
   */
  public AdvancedOptions timeSource(TimeSource time) {
    this.time = Limits.checkPresent("time", time);
    this.ownClock = true;
    return this;
  }

  /**
   * How long the slots take to double after a start, from 64, so that a backlog does not hit
   * everything at once.
   *
   * @param slowStart a second by default; zero for all slots at once
   * @return this
   */
  public AdvancedOptions slowStart(Duration slowStart) {
    this.slowStart = range("slowStart", slowStart, Duration.ZERO, Duration.ofDays(1));
    return this;
  }

  /**
   * How far ahead jobs are read into memory.
   *
   * @param loadHorizon a minute by default
   * @return this
   */
  public AdvancedOptions loadHorizon(Duration loadHorizon) {
    this.loadHorizon =
        range("loadHorizon", loadHorizon, Duration.ofSeconds(1), OptionChecks.LONGEST);
    return this;
  }

  /**
   * How much room jobs that ended well may take. Beyond it the oldest of them go before their
   * {@link CarillonBuilder#retention}; failures and dead letters are not counted, and jobs whose
   * idempotency key still counts stay.
   *
   * @param bytes 10 GiB by default; 0 for any amount
   * @return this
   */
  public AdvancedOptions historyBytes(long bytes) {
    if (bytes < 0) {
      throw bad("historyBytes", bytes, "0 or more");
    }
    this.historyBytes = bytes;
    return this;
  }

  /** From how many jobs on an idle shard is packed, for tests. */
  AdvancedOptions packFromJobs(int jobs) {
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
  public AdvancedOptions aloneTime(Duration aloneTime) {
    this.aloneTime = range("aloneTime", aloneTime, Duration.ofMillis(1), Duration.ofHours(1));
    return this;
  }

  /**
   * How long dead letters stay that nobody discards.
   *
   * @param retention a hundred years by default
   * @return this
   */
  public AdvancedOptions deadLetterRetention(Duration retention) {
    this.deadLetterRetention =
        range("deadLetterRetention", retention, Duration.ZERO, OptionChecks.LONGEST);
    return this;
  }

  /**
   * How long an idempotency key is remembered after its job ended.
   *
   * @param keyRetention a day by default
   * @return this
   */
  public AdvancedOptions keyRetention(Duration keyRetention) {
    this.keyRetention = range("keyRetention", keyRetention, Duration.ZERO, OptionChecks.LONGEST);
    return this;
  }

  /**
   * How long a call waits for room and for the store. Afterwards its caller is told what is known:
   * not done, or unknown.
   *
   * @param scheduleTimeout 30 seconds by default
   * @return this
   */
  public AdvancedOptions scheduleTimeout(Duration scheduleTimeout) {
    this.scheduleTimeout =
        range("scheduleTimeout", scheduleTimeout, Duration.ofMillis(1), Duration.ofDays(1));
    return this;
  }

  /**
   * How much may wait for the store before callers are held back.
   *
   * @param jobs 200,000 by default, at most 1,000,000
   * @param bytes 128 MiB by default, at most 256 GiB
   * @return this
   */
  public AdvancedOptions maxWaiting(int jobs, long bytes) {
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
   * Whether the node is shown over JMX, as {@link CarillonMXBean}.
   *
   * @param jmx false by default
   * @return this
   */
  public AdvancedOptions jmx(boolean jmx) {
    this.jmx = jmx;
    return this;
  }

  /**
   * Whether workers may be connected to nodes of this store ({@link NodeControl#workers()}). Such a
   * node gives out nothing of a limited queue or namespace before it has loaded what is due,
   * because workers may still run what a node gave them that is gone: those attempts count. To be
   * the same on all nodes of a store.
   *
   * @param workers false by default
   * @return this
   */
  public AdvancedOptions expectWorkers(boolean workers) {
    this.workers = workers;
    return this;
  }

  /**
   * How many workflows that wait keep their threads. Of more than that the threads that have waited
   * longest are given up, and the code runs again from its history once its wait is over. Where the
   * JVM runs with {@code -Djdk.trackAllThreads=false} the code does not notice; otherwise its calls
   * throw {@link dev.carillon.api.workflow.WorkflowUnwound}.
   *
   * @param workflows 50,000 by default; at least 1
   * @return this
   * @throws dev.carillon.api.error.InvalidArgumentException if it is below 1
   */
  public AdvancedOptions parkedWorkflows(int workflows) {
    parkedWorkflows = OptionChecks.positive("parkedWorkflows", workflows);
    return this;
  }

  /**
   * How long the history of a workflow may become. A workflow that has reached one of the two
   * begins no further call and is {@code BLOCKED} ({@link dev.carillon.api.BlockReason#LIMIT})
   * until its node runs with higher limits; it can be cancelled. A fifth of it is logged as a
   * warning. {@link dev.carillon.api.workflow.Workflow#continueAsNew} keeps histories short.
   *
   * @param entries 50,000 by default; at least 10
   * @param bytes 32 MiB by default; at least 10,000
   * @return this
   * @throws dev.carillon.api.error.InvalidArgumentException if one is too small
   */
  public AdvancedOptions workflowHistory(int entries, long bytes) {
    if (entries < LEAST_HISTORY_ENTRIES) {
      throw InvalidArgumentException.of("entries", entries, "at least " + LEAST_HISTORY_ENTRIES);
    }
    if (bytes < LEAST_HISTORY_BYTES) {
      throw InvalidArgumentException.of("bytes", bytes, "at least " + LEAST_HISTORY_BYTES);
    }
    workflowHistoryEntries = entries;
    workflowHistoryBytes = bytes;
    return this;
  }

  /**
   * A codec that only reads what it wrote when it was the one in use.
   *
   * @param codec the former codec
   * @return this
   */
  public AdvancedOptions alsoRead(PayloadCodec codec) {
    otherCodecs.add(Limits.checkPresent("codec", codec));
    return this;
  }

  /**
   * Declares keys of metadata by which jobs are looked for: {@code list} then passes over packed
   * history without such a job. Jobs are found without it too, by reading what there is.
   *
   * @param keys none by default
   * @return this
   */
  public AdvancedOptions indexMetadata(String... keys) {
    for (String key : Limits.checkPresent("keys", keys)) {
      indexedMetadata.add(text("metadata key", key));
    }
    return this;
  }

  /**
   * How many attempts of a namespace run at once on all nodes, unless {@link Carillon#namespace}
   * says otherwise.
   *
   * @param namespace the namespace
   * @param limit at least 1
   * @return this
   */
  public AdvancedOptions limitNamespace(String namespace, int limit) {
    flow.limit(FlowSubject.Scope.NAMESPACE, text("namespace", namespace), limit);
    return this;
  }

  /**
   * How often attempts of a namespace start, unless {@link Carillon#namespace} says otherwise.
   *
   * @param namespace the namespace
   * @param rate so many in a period
   * @return this
   */
  public AdvancedOptions rateNamespace(String namespace, Rate rate) {
    flow.rate(FlowSubject.Scope.NAMESPACE, text("namespace", namespace), rate);
    return this;
  }

  /** Whether other nodes may use the store; one that lives by a clock of its own is alone. */
  boolean isShared(Store opened) {
    StoreInfo info = opened.info(); // also where somebody has wrapped a store in memory
    boolean ownProcess = (info.kind().equals(MEMORY) || ownClock) && memberTimeout == null;
    return !ownProcess && !info.can(StoreInfo.Capability.SINGLE_PROCESS);
  }

  /** How the node shares its store; it owns jobs. */
  Membership membership(boolean returns, Duration longestStatement) {
    Duration timeout = memberTimeout != null ? memberTimeout : Membership.standard().timeout();
    if (timeout.compareTo(longestStatement) <= 0) {
      throw bad(
          "memberTimeout",
          timeout,
          "more than the statement timeout of the store, " + longestStatement);
    }
    Duration forget = forgetAfter.compareTo(timeout) < 0 ? timeout : forgetAfter;
    Duration clocks = clockLimit == null && !ownClock ? Membership.CLOCK_LIMIT : clockLimit;
    return new Membership(
        timeout.dividedBy(HEARTBEATS), timeout, forget, returns, clocks, lending, false);
  }
}
