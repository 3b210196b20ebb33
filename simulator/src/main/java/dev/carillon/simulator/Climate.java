package dev.carillon.simulator;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Rate;
import dev.carillon.engine.environment.HistoryLimit;
import dev.carillon.engine.environment.NodeOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a seed is like: how long, how dense, how faulty, with which settings of the node. Seeds
 * differ widely on purpose; a run in which everything happens a little finds less.
 */
final class Climate {
  private static final List<Long> SPANS_SECONDS =
      List.of(30L, 120L, 600L, 3_600L, 6 * 3_600L, 86_400L, 5 * 86_400L);

  /** With several nodes, which send heartbeats all the time: days pass by jumps of the clocks. */
  private static final List<Long> SPANS_OF_SEVERAL_SECONDS = List.of(20L, 40L, 80L, 160L);

  private static final String NODE_ID = "node";
  private static final long MOST_SKEW_MICROS = 500_000;
  private static final long MOST_DRIFT = 100;
  private static final long YEAR_2026_MICROS = 1_767_225_600_000_000L;

  final int nodes;
  private final long firstWallMicros;
  private final long[] skewMicros;
  private final long[] driftPerMillion;

  /** What several nodes do that one does not; null for one. */
  final @Nullable Together together;

  /** How long users are active and faults happen. */
  final long spanNanos;

  /** Store calls that meet a fault, in ten thousand. */
  final int storeFaults;

  /** The same for calls that are rare, so that they meet every fault too. */
  final int rareStoreFaults;

  final int hangs;
  final int crashes;
  final int jumps;
  final int stops;
  final int adds;
  final int killers;

  /** Jobs with a concurrency key, in ten thousand. */
  final int keyed;

  /** Jobs that wait for others, in ten thousand. */
  final int dependent;

  /** How often operators change something about queues and namespaces. */
  final int flowChanges;

  private static final int LENDS_ONE_IN = 4;
  private static final long COMMITS = 0x636f6d6d697473L;

  /** How often jobs of the concurrency key with a rate start. */
  final Rate keyRate;

  final long longestJumpMicros;

  /** Handlers that misbehave, in ten thousand. */
  final int badHandlers;

  /** Names to choose from: few make them contended. */
  final int names;

  final long slowestCallNanos;

  /** Whether the store takes two commits of a node at once. */
  final boolean commitsBeside;

  final int typeLimit;
  final int queueLimit;
  final int namespaceLimit;

  /** How many workflows users schedule. */
  final int workflows;

  /** How long their waits are. */
  final int workflowScale;

  /** Parked runs that are lost at once, in ten thousand. */
  final int evictions;

  private static final int MOST_WORKFLOWS = 24;
  private static final int WORKFLOWS_ONE_IN = 2;
  private static final long WORKFLOWS = 0x776f726b666c6f77L;

  /** How many jobs only workers run. */
  final int workerJobs;

  private static final long WORKERS = 0x776f726b657273L;

  private final NodeOptions settings;

  Climate(Chance chance, Seed seed) {
    this.nodes = seed.nodes();
    firstWallMicros = YEAR_2026_MICROS + chance.between(0, 86_400L * 365) * 1_000_000;
    spanNanos =
        chance.pick(nodes == 1 && seed.workers() == 0 ? SPANS_SECONDS : SPANS_OF_SEVERAL_SECONDS)
            * VirtualClock.SECOND;
    storeFaults = chance.oneIn(5) ? 0 : (int) chance.spread(20, 2_500);
    rareStoreFaults = Math.max(storeFaults, chance.oneIn(3) ? 0 : 1_500);
    hangs = chance.oneIn(2) ? 0 : (int) chance.spread(5, 200);
    crashes = (int) chance.between(1, 8);
    jumps = (int) chance.between(1, 6);
    stops = (int) chance.between(0, 2);
    adds = (int) chance.between(185, 240);
    killers = chance.oneIn(3) ? 1 : 0;
    longestJumpMicros = chance.spread(1_000_000, 3 * 86_400L * 1_000_000);
    badHandlers = chance.oneIn(4) ? 0 : (int) chance.spread(100, 5_000);
    names = (int) chance.spread(2, 30);
    slowestCallNanos = chance.spread(VirtualClock.MILLI / 10, 20 * VirtualClock.MILLI);
    commitsBeside = new Chance(seed.number() ^ COMMITS).oneIn(2); // a lot of its own, as lends
    typeLimit = (int) chance.between(1, 4);
    queueLimit = chance.oneIn(2) ? Integer.MAX_VALUE : (int) chance.between(1, 4);
    namespaceLimit = chance.oneIn(2) ? Integer.MAX_VALUE : (int) chance.between(1, 6);
    flowChanges = chance.oneIn(3) ? 0 : (int) chance.between(4, 40);
    keyed = chance.oneIn(4) ? 0 : (int) chance.spread(300, 5_000);
    dependent = chance.oneIn(4) ? 0 : (int) chance.spread(300, 4_000);
    keyRate = FlowUsers.rate(chance);
    Chance ofWorkflows = new Chance(seed.number() ^ WORKFLOWS); // a lot of their own
    workflows =
        seed.workflows() && ofWorkflows.oneIn(WORKFLOWS_ONE_IN)
            ? (int) ofWorkflows.between(2, MOST_WORKFLOWS)
            : 0;
    workflowScale = (int) ofWorkflows.spread(1, nodes == 1 ? 4_000 : 200);
    evictions = ofWorkflows.oneIn(3) ? 10_000 : (int) ofWorkflows.spread(1, 8_000);
    workerJobs =
        seed.workers() == 0 ? 0 : (int) new Chance(seed.number() ^ WORKERS).between(20, 100);
    settings = settings(chance, histories(ofWorkflows));
    skewMicros = new long[nodes];
    driftPerMillion = new long[nodes];
    together = nodes == 1 ? null : new Together(chance, spanNanos, lends(seed));
    if (nodes > 1) {
      Arrays.setAll(skewMicros, i -> chance.between(-MOST_SKEW_MICROS, MOST_SKEW_MICROS));
      Arrays.setAll(driftPerMillion, i -> chance.between(-MOST_DRIFT, MOST_DRIFT));
    }
  }

  /** Whether its nodes run attempts for each other. */
  boolean lends() {
    return together != null && together.lends;
  }

  /** By a lot of its own: it changes no other that is drawn. */
  private static boolean lends(Seed seed) {
    return new Chance(~seed.number()).oneIn(LENDS_ONE_IN);
  }

  /** What the clock of the store shows at first. */
  long firstWall() {
    return firstWallMicros;
  }

  /** What the wall clock of a node shows at first. */
  long firstWall(int node) {
    return firstWallMicros + skewMicros[node];
  }

  /** How many microseconds in a second the monotonic clock of a node gains. */
  long drift(int node) {
    return driftPerMillion[node];
  }

  /** Short ones in some seeds, so that workflows reach them. */
  private static HistoryLimit histories(Chance chance) {
    return chance.oneIn(4)
        ? new HistoryLimit((int) chance.between(4, 16), 32 << 20)
        : HistoryLimit.STANDARD;
  }

  private static NodeOptions settings(Chance chance, HistoryLimit histories) {
    return new NodeOptions(
        NODE_ID,
        1,
        (int) chance.spread(2, 128),
        chance.oneIn(2) ? Duration.ZERO : Duration.ofSeconds(1),
        Duration.ofSeconds(chance.pick(List.of(4L, 20L, 60L, 600L))),
        Duration.ofSeconds(5),
        Duration.ofSeconds(10),
        Duration.ofSeconds(chance.spread(1, 86_400)),
        Duration.ofDays(30),
        NodeOptions.FOREVER,
        Duration.ofSeconds(chance.spread(1, 86_400)),
        chance.oneIn(4) ? (int) chance.between(5, 40) : 200_000,
        256 << 20,
        (int) chance.spread(3, 50),
        chance.oneIn(4) ? 2_000 : 32 << 20,
        chance.oneIn(2) ? 1_000 : 32 << 20,
        FailurePolicy.exponential(
            Duration.ofSeconds(1), 4, Duration.ofHours(1), (int) chance.between(1, 4), 0.2),
        chance.oneIn(4) ? 1_000 : (int) chance.spread(1, 10),
        chance.oneIn(4) ? chance.spread(100, 10_000) : 0,
        Set.of(),
        histories,
        null);
  }

  /** The id of a node, which its starts share. */
  String nodeId(int node) {
    return nodes == 1 ? NODE_ID : NODE_ID + "-" + node;
  }

  NodeOptions options(int node, long incarnation) {
    return new NodeOptions(
        nodeId(node),
        incarnation,
        settings.slots(),
        settings.slowStart(),
        settings.loadHorizon(),
        settings.overdueAfter(),
        settings.aloneTime(),
        settings.successRetention(),
        settings.failureRetention(),
        settings.deadRetention(),
        settings.keyRetention(),
        settings.maxQueued(),
        settings.maxQueuedBytes(),
        settings.maxShardJobs(),
        settings.maxShardBytes(),
        settings.bodyBudgetBytes(),
        settings.failurePolicy(),
        settings.packFromJobs(),
        settings.historyBytes(),
        settings.indexedMetadata(),
        settings.historyLimit(),
        together == null ? null : together.membership());
  }

  /** Whether loaded jobs always have their bodies in memory. */
  boolean keepsBodies() {
    return settings.bodyBudgetBytes() > 1 << 20;
  }

  NodeOptions options() {
    return settings;
  }

  long horizonNanos() {
    return settings.loadHorizon().toNanos();
  }
}
