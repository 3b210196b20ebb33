package dev.carillon.simulator;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Rate;
import dev.carillon.engine.NodeOptions;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * What a seed is like: how long, how dense, how faulty, with which settings of the node. Seeds
 * differ widely on purpose; a run in which everything happens a little finds less.
 */
final class Climate {
  private static final List<Long> SPANS_SECONDS =
      List.of(30L, 120L, 600L, 3_600L, 6 * 3_600L, 86_400L, 5 * 86_400L);
  private static final long YEAR_2026_MICROS = 1_767_225_600_000_000L;

  final long firstWallMicros;

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

  /** How often jobs of the concurrency key with a rate start. */
  final Rate keyRate;

  final long longestJumpMicros;

  /** Handlers that misbehave, in ten thousand. */
  final int badHandlers;

  /** Names to choose from: few make them contended. */
  final int names;

  final long slowestCallNanos;
  final int typeLimit;
  final int queueLimit;
  final int namespaceLimit;
  private final NodeOptions settings;

  Climate(Chance chance) {
    firstWallMicros = YEAR_2026_MICROS + chance.between(0, 86_400L * 365) * 1_000_000;
    spanNanos = chance.pick(SPANS_SECONDS) * VirtualClock.SECOND;
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
    typeLimit = (int) chance.between(1, 4);
    queueLimit = chance.oneIn(2) ? Integer.MAX_VALUE : (int) chance.between(1, 4);
    namespaceLimit = chance.oneIn(2) ? Integer.MAX_VALUE : (int) chance.between(1, 6);
    flowChanges = chance.oneIn(3) ? 0 : (int) chance.between(4, 40);
    keyed = chance.oneIn(4) ? 0 : (int) chance.spread(300, 5_000);
    dependent = chance.oneIn(4) ? 0 : (int) chance.spread(300, 4_000);
    keyRate = FlowUsers.rate(chance);
    settings = settings(chance);
  }

  private static NodeOptions settings(Chance chance) {
    return new NodeOptions(
        "node",
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
        null);
  }

  NodeOptions options(long incarnation) {
    return new NodeOptions(
        settings.nodeId(),
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
        settings.membership());
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
