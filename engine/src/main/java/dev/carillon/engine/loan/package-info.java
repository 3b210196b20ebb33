/**
 * Work sharing: a node lends due attempts to another node that has a free slot or the handler.
 *
 * <p><b>State.</b> The loop of each node owns its side. No journal knows of a loan.
 *
 * <ul>
 *   <li>{@code Lending}: the attempts that are out.
 *   <li>{@code Borrowing}: the attempts that run here for others.
 *   <li>{@code HandlerLists}: which node has which handlers.
 *   <li>{@code Permits}: the record that lets transactions of this node complete borrowed attempts.
 * </ul>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>A lent attempt is its owner's in all but where its handler runs. It holds gates, rate and
 *       key at the owner, and the owner writes its outcome.
 *   <li>The owner counts an outcome only while the attempt's nonce is still lent to the node that
 *       reports it.
 *   <li>A borrower calls a handler only while it hears the lender's heartbeats, in the eras of both
 *       nodes in which the attempt was lent.
 *   <li>The borrower announces a window for each lender: it doubles while slots stay free, and
 *       halves when lent attempts wait. Attempts that cannot start within a second go back.
 *   <li>A job that may have killed a node is lent only where its owner has no handler. Its START is
 *       durable before the borrower calls the handler.
 * </ul>
 *
 * <p><b>Crash.</b>
 *
 * <ul>
 *   <li>The borrower dies: the owner hears its earlier messages, deletes its permit, and makes the
 *       other attempts again. Their jobs are suspect.
 *   <li>The owner dies, is fenced or loses the shard: the borrower stops the attempts; their
 *       outcomes count for nobody.
 *   <li>A borrower that was paused returns: its nonces are no longer out and its permit is gone.
 *   <li>A message is lost: {@code Wire} writes it again while both nodes live.
 * </ul>
 *
 * <p>{@code Lending} lends only to members that take shards. Workers outside the nodes are given
 * attempts by the room {@code worker}.
 */
@NullMarked
package dev.carillon.engine.loan;

import org.jspecify.annotations.NullMarked;
