/**
 * Dispatch: which due job starts next, within which limits.
 *
 * <p><b>State.</b> The loop owns it, in memory only.
 *
 * <ul>
 *   <li>{@code DueQueue}: jobs that wait for their time, a heap for each lane.
 *   <li>{@code Lane}: due jobs of one namespace and queue; fresh ones in {@code ReadyLine}, overdue
 *       ones in {@code LateLine}.
 *   <li>{@code Gate}: the running attempts of a node, namespace, queue or handler.
 *   <li>{@code KeySlot}: the holders of a concurrency key, and the jobs that wait for it.
 *   <li>{@code HandlerSlot}: jobs of a type that wait for a handler or for its limit.
 *   <li>{@code PayloadMemory}: which payloads are in memory. {@code Flow}: pauses, limits and rates
 *       that operators set, each in a record.
 * </ul>
 *
 * <pre>
 *   due → concurrency key → lane → gates of the lane → handler → rate of the key → Grant
 *           full: LIMITED      no room, paused: aside    none: NO_HANDLER, full: LIMITED
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>The dispatcher alone gives an attempt a {@code Grant}: gates entered, rate taken, key held.
 *       {@code turn} gives it to a handler of this node, or of another where this one has none;
 *       {@code lendWaiting} to another where this one has no slot. A borrowed attempt has its grant
 *       at its owner; {@code Borrowing} starts it.
 *   <li>An attempt returns the slot when its handler has returned, and the key when the outcome is
 *       durable as well.
 *   <li>Nothing starts before the settings of operators are read. A node gives out no key before it
 *       has loaded everything that was due at its start.
 *   <li>Lanes take turns, one job a turn. A backlog gets at most every other turn of its lane.
 *   <li>A job stands in one place at a time. A job with an operation in flight is not dispatched.
 *   <li>A job suspected of killing its node (poison) starts alone.
 *   <li>{@code SlowStart} opens slots step by step after a start and after a fence.
 * </ul>
 *
 * <p><b>Crash.</b> Lanes, gates, keys and grants vanish. The next owner loads the jobs, and {@code
 * Keys.admit} gives each key out anew. A node that starts waits with that until everything due is
 * loaded ({@code Keys.open}); a node that was running does not. {@code Flow} reads its records
 * before any start.
 */
@NullMarked
package dev.carillon.engine.dispatch;

import org.jspecify.annotations.NullMarked;
