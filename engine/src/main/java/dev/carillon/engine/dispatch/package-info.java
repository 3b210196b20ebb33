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
 *   <li>{@code Dispatcher.turn} alone decides that a job starts. It gives the attempt a {@code
 *       Grant}: gates entered, rate taken, key held. The attempt returns the slot when its handler
 *       has returned, and the key when the outcome is durable as well.
 *   <li>Nothing starts before the settings of operators are read. Nobody gets a key before
 *       everything that was due at the start is loaded.
 *   <li>Lanes take turns, one job a turn. A backlog gets at most every other turn of its lane.
 *   <li>A job stands in one place at a time. A job with an operation in flight is not dispatched.
 *   <li>A job suspected of killing its node (poison) starts alone.
 *   <li>{@code SlowStart} opens slots step by step after a start and after a fence.
 * </ul>
 *
 * <p><b>Crash.</b> Lanes, gates, keys and grants vanish. The next owner loads the jobs, orders them
 * anew by due time and gives out the keys again. {@code Flow} reads its records before any start.
 */
@NullMarked
package dev.carillon.engine.dispatch;

import org.jspecify.annotations.NullMarked;
