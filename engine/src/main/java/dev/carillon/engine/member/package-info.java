/**
 * Cluster membership: heartbeats, failure detection, which node stands in for which, clock checks,
 * operators' orders, and the format in which all nodes write.
 *
 * <p><b>State.</b> The loop owns it. {@code Heartbeat}: this node's record and its last
 * acknowledged heartbeat. {@code Members}: the other nodes by their heartbeats. {@code
 * MemberStatus}: whether this node has joined, is proven or fenced. {@code WallClock}: the offset
 * from the store's clock. {@code Formats} may be read by any thread.
 *
 * <pre>
 *   starting ──heartbeat acknowledged──→ joined ──every epoch proven──→ proven
 *                                          ▲                              │
 *                                          │                              ▼
 *                                          └──heartbeats arrive again── fenced
 *             fenced: 0.9 of the timeout has passed since the last acknowledged heartbeat was sent
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>No safety rests on this room: epochs decide who may write. A wrong judgement costs a
 *       failover.
 *   <li>A peer is dead when reads that cover the timeout, none more than half of it apart, showed
 *       the same heartbeat.
 *   <li>A node fences itself earlier than others may judge it dead. A fenced node starts nothing.
 *   <li>A proven node has shown each epoch by a fenced write and has read what operators have set.
 *   <li>Nothing counts as due by a wall clock that is off by more than the limit, was never
 *       compared or has jumped since.
 *   <li>{@code StandIns} is a function of the members: each home in 128 parts, shared out evenly.
 *       Few parts move when a node comes or goes (rendezvous hashing).
 *   <li>No node writes a format that a member, or a node that may return, does not read.
 * </ul>
 *
 * <p><b>Crash.</b> A lost heartbeat is followed by the next. A node that dies is silent: after the
 * timeout others claim its shards, after ten seconds more its share of limits is free. A store that
 * went back in time is another copy: the node loses all shards, adopts the copy and joins anew.
 */
@NullMarked
package dev.carillon.engine.member;

import org.jspecify.annotations.NullMarked;
