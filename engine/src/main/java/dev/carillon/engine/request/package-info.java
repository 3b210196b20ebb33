/**
 * Requests of users and of other nodes: add, replace, cancel, pause, reschedule, replay, and so on.
 *
 * <p><b>State.</b> The loop owns it: adds that wait for a shard or a name ({@code Adds}), rows
 * taken from the inbox ({@code Intake}), requests that a client has sent to members ({@code
 * Errands}), questions about what nodes have in memory ({@code Questions}). A request that has
 * become an operation belongs to room {@code commit}.
 *
 * <pre>
 *   add:      dependencies found → shard and number → name's record put → shard awake → ADD durable
 *   control:  shard here and loaded → operation → answer from the fold
 *             shard unowned         → claimed; a cancel visits it, any other control loads it
 *             shard of another node → RemoteRequests → RequestRouter there → the same code
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>The append of the ADD alone commits a job. A name's record that points at no live job is
 *       taken over by its version.
 *   <li>Callers are answered from the fold, once the operation is durable, or told that the outcome
 *       is unknown.
 *   <li>{@code RequestRouter} serves a remote request through the methods that serve a local one.
 *   <li>New jobs are refused while more than {@code maxQueued} operations wait for the store.
 *   <li>A client owns no shards: {@code Errands} asks a member to do everything for it.
 *   <li>{@code NamedChildren} finds the names of a workflow's new children before it is written
 *       that they are started.
 *   <li>A question reads memory and changes nothing. Its asker goes on without a node that gives no
 *       answer in time, and names it.
 * </ul>
 *
 * <p><b>Crash.</b>
 *
 * <ul>
 *   <li>After the name's record, before the ADD: the next taker of the name claims that shard. The
 *       claim keeps the ADD out for ever. Then the taker takes the record over.
 *   <li>After the ADD: the job is there, answered or not.
 *   <li>Rows of the inbox: the append that adds the job removes its row. A row that is still there
 *       is taken again.
 *   <li>A member dies during an errand: a repeatable one goes to another member; of any other the
 *       client hears that the outcome is unknown.
 * </ul>
 */
@NullMarked
package dev.carillon.engine.request;

import org.jspecify.annotations.NullMarked;
