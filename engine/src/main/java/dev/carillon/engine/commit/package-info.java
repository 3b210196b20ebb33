/**
 * The write-ahead log: group commit of operations to journals, and changes of records.
 *
 * <p><b>State.</b> The loop owns all of it.
 *
 * <ul>
 *   <li>{@code ShardJournal}, one for each shard of this node: ownership, epoch, generation, tail,
 *       queued operations, the entry in flight, the wake time. Its methods alone change these
 *       fields. {@code Committer} queues and sends; room {@code shard} changes ownership,
 *       generation and wake time.
 *   <li>{@code Committer}: which journals have something to send, and the batches that wait ({@code
 *       AtomicAdds}).
 *   <li>{@code RecordChanges}: the queue of changes, one call of the store at a time.
 * </ul>
 *
 * <pre>
 *   operation:  MADE ──→ QUEUED ──→ SENT ──→ SETTLED: applied by the fold, or lost
 *                          │ ▲       │
 *                          │ └───────┘ not written, or resolved as absent: sent again
 *                          └──→ SETTLED: withdrawn by its caller before it was sent
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>Write first, then apply, in journal order.
 *   <li>A journal has one entry in flight. Two groups of commits never hold the same journal.
 *   <li>An unknown outcome is resolved before the next append to that journal. An absent entry is
 *       sent again under the next number.
 *   <li>A listener of an operation hears exactly one of applied and lost.
 *   <li>A group holds at most one batch. Such a group is written as a whole or not at all.
 *   <li>A journal's wake time rises only together with an entry or with a publish.
 *   <li>A fenced append means that another node owns the shard: the node lets the shard go at once.
 * </ul>
 *
 * <p><b>Crash.</b> Before the store has an entry nobody was answered. After that the next owner's
 * fold has it, answered or not. A record whose change is unknown is resolved before the next
 * change.
 */
@NullMarked
package dev.carillon.engine.commit;

import org.jspecify.annotations.NullMarked;
