/**
 * Request/reply and messages between nodes, carried by records of the store, with notifications as
 * a hint.
 *
 * <p><b>State.</b> The loop owns it: requests sent and served ({@code RemoteRequests}), streams of
 * messages by peer ({@code Wire}), notifications under way ({@code Notifications}).
 *
 * <pre>
 *   request:  ASKED ──→ BEGUN ──→ ANSWERED ──→ deleted by its sender
 *             ▲ │ │      │          ▲
 *             │ │ └──────┼──────────┘ a repeatable request is never marked as begun
 *             └─┼────────┘            its server could do nothing: asked again
 *               └──→ TAKEN_BACK ──→ deleted; the sender acts itself
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>{@code RemoteRequests} addresses a shard: whichever node owns it serves the request,
 *       through the same code as a local one, and writes the answer into the request's record.
 *   <li>A request that does harm when served twice is marked BEGUN before it is served.
 *   <li>{@code Wire} addresses one incarnation. Messages arrive in order, each at most once.
 *       Nothing that must survive either side is said there.
 *   <li>Requests and messages name the copy of the store in which they were written. A receiver
 *       deletes those of another copy unserved.
 *   <li>A notification may be lost: a poll stands behind each.
 *   <li>A {@code Question} is answered from the memory of the node that is asked.
 *   <li>At most 1,000 requests of a node are under way, each of at most 60 KiB.
 * </ul>
 *
 * <p><b>Crash.</b>
 *
 * <ul>
 *   <li>The sender dies: whoever sees the request deletes it.
 *   <li>The owner dies before it began, or at a repeatable request: the next owner serves it.
 *   <li>The owner dies after BEGUN: the sender hears that the outcome is unknown.
 *   <li>The shard has no owner, or came to the sender: the sender takes the request back, claims
 *       the shard and acts itself.
 *   <li>A message's sender dies: its written messages are heard. The addressee dies: others delete
 *       them.
 * </ul>
 */
@NullMarked
package dev.carillon.engine.message;

import org.jspecify.annotations.NullMarked;
