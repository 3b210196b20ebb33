/**
 * The shards of this node: which shard takes a new job, which shards the node claims, loads,
 * unloads, hands back, packs and drops.
 *
 * <p><b>State.</b> The loop owns all of it.
 *
 * <ul>
 *   <li>{@code OpenShards}: the shards of this node, and the open shard of each bucket. It finds
 *       and creates them.
 *   <li>{@code Shard}: the fold and the counts of one shard, beside its {@code ShardJournal}.
 *   <li>{@code NodeJob}: a live job with its phase. The phase changes in one method, by a table of
 *       legal pairs. A job stands in one {@code JobPlace} at a time.
 *   <li>{@code Claims} claims shards, at a bounded pace. {@code Loads} reads them, one at a time.
 *   <li>The wake time of a shard: {@code OpenShards} gives the first one when it creates the shard.
 *       {@code WakeTimes} alone lowers it. {@code WakeTimes} and {@code Settling} have {@code
 *       Committer.raiseWake} append an entry that raises it; an operation that is queued first
 *       cancels the raise. {@code Retention} and {@code Packs} publish one with a new generation.
 *       No other class changes it.
 *   <li>{@code Settling} unloads, hands back, releases and drops shards.
 * </ul>
 *
 * <pre>
 *   ownership:  ACQUIRING ──→ OWNED ──→ LEAVING ──→ LOST    create or claim; release or drop
 *                   └───────────┴───────────┴─────→ LOST    fenced, or the store is another copy
 *
 *   phase:      SCHEDULED ──→ READY ──→ RUNNING ──→ GONE    due; started; ended or unloaded
 *                   ▲           │          │
 *                   ├───────────┴──────────┘                retry, next time, change, not made
 *                   └── NO_HANDLER, UNDECODABLE, LIMITED, DEPENDENCY, PAUSED: waits, may go on
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>No job in a journal is due before its shard's wake time, at any crash. The wake time is
 *       lowered before the append that needs it. A raise goes with an entry or a publish.
 *   <li>A shard that owes news to waiting jobs (a debt) is awake. Its owner does not let it sleep,
 *       compact or drop it.
 *   <li>A shard is unloaded, released, compacted or dropped only while {@code Shard.quiet} holds:
 *       nothing queued, in flight, unresolved or held.
 *   <li>New jobs go to shards of the node's own id, and to those of nodes that are gone for good.
 *   <li>A claim of a shard that its last owner did not release makes it suspect; the node loads it.
 *   <li>{@code Directory} says whose a shard is. Where nodes differ the claim decides (fencing).
 * </ul>
 *
 * <p><b>Crash.</b> Create, claim, seal, release and drop are idempotent. The next listing finds a
 * shard as the lost call left it, by its wake time. Retention and packing continue from there.
 */
@NullMarked
package dev.carillon.engine.shard;

import org.jspecify.annotations.NullMarked;
