package dev.carillon.engine.environment;

import dev.carillon.api.FailurePolicy;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The engine's settings. Nothing needs tuning to be correct.
 *
 * @param nodeId stable across restarts of the same node
 * @param incarnation random per start, not zero
 * @param slots attempts that may run at once on this node
 * @param slowStart how long the slots take to double after a start, from 64; zero for all at once
 * @param loadHorizon how far ahead shards are loaded
 * @param overdueAfter how late a job is before it counts as backlog
 * @param aloneTime how long a job suspected of killing its node runs alone
 * @param successRetention how long jobs that ended well stay readable
 * @param failureRetention how long failed ones do
 * @param deadRetention how long dead letters do, unless they are discarded
 * @param keyRetention how long an idempotency key is remembered after its job ended
 * @param maxQueued operations that may wait for the store before new jobs are refused
 * @param maxQueuedBytes the same, by size
 * @param maxShardJobs jobs after which a shard is followed by a narrower one
 * @param maxShardBytes the same, by size
 * @param bodyBudgetBytes of loaded jobs that are kept in memory though they are not due soon
 * @param failurePolicy of jobs for which nobody says another
 * @param packFromJobs how many jobs an idle shard must have to be packed
 * @param historyBytes how much drained shards and older generations may take before the oldest go;
 *     0 for any amount
 * @param indexedMetadata keys by which jobs are found without reading their shards
 * @param historyLimit how long the history of a workflow may become
 * @param membership how this node counts among others; null where it has the store to itself
 */
public record NodeOptions(
    String nodeId,
    long incarnation,
    int slots,
    Duration slowStart,
    Duration loadHorizon,
    Duration overdueAfter,
    Duration aloneTime,
    Duration successRetention,
    Duration failureRetention,
    Duration deadRetention,
    Duration keyRetention,
    int maxQueued,
    long maxQueuedBytes,
    int maxShardJobs,
    long maxShardBytes,
    long bodyBudgetBytes,
    FailurePolicy failurePolicy,
    int packFromJobs,
    long historyBytes,
    Set<String> indexedMetadata,
    HistoryLimit historyLimit,
    @Nullable Membership membership) {

  /** A hundred years. */
  public static final Duration FOREVER = Duration.ofDays(36_500);

  /** The defaults. */
  public static NodeOptions of(String nodeId, long incarnation) {
    return new NodeOptions(
        nodeId,
        incarnation,
        1024,
        Duration.ofSeconds(1),
        Duration.ofMinutes(1),
        Duration.ofSeconds(5),
        Duration.ofSeconds(10),
        Duration.ofDays(7),
        Duration.ofDays(30),
        FOREVER,
        Duration.ofDays(1),
        200_000,
        256 << 20,
        50_000,
        32 << 20,
        32 << 20,
        FailurePolicy.standard(),
        256,
        10L << 30,
        Set.of(),
        HistoryLimit.STANDARD,
        null);
  }

  /** The same for a node that shares its store with others. */
  public NodeOptions among(Membership others) {
    return new NodeOptions(
        nodeId,
        incarnation,
        slots,
        slowStart,
        loadHorizon,
        overdueAfter,
        aloneTime,
        successRetention,
        failureRetention,
        deadRetention,
        keyRetention,
        maxQueued,
        maxQueuedBytes,
        maxShardJobs,
        maxShardBytes,
        bodyBudgetBytes,
        failurePolicy,
        packFromJobs,
        historyBytes,
        indexedMetadata,
        historyLimit,
        others);
  }

  /** The same with another limit for the histories of workflows. */
  public NodeOptions with(HistoryLimit limit) {
    return new NodeOptions(
        nodeId,
        incarnation,
        slots,
        slowStart,
        loadHorizon,
        overdueAfter,
        aloneTime,
        successRetention,
        failureRetention,
        deadRetention,
        keyRetention,
        maxQueued,
        maxQueuedBytes,
        maxShardJobs,
        maxShardBytes,
        bodyBudgetBytes,
        failurePolicy,
        packFromJobs,
        historyBytes,
        indexedMetadata,
        limit,
        membership);
  }
}
