/**
 * Rates (token buckets) and limits that several nodes share.
 *
 * <p><b>State.</b> The loop owns it: {@code TokenBucket}, one for each rate in use; {@code Share},
 * this node's part of one limit. {@code Rates} and {@code Shares} alone write their records, by
 * compare-and-set on the record's version.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>Rates are durable ahead of time. The record of a bucket is never behind the starts, so a
 *       restart gives no start too many.
 *   <li>A rate under load costs one write a second; a slow rate costs one write a start.
 *   <li>The shares of all nodes add up to at most the limit, or nobody starts anything that makes
 *       the excess larger. {@code LimitClaim} is the format of one node's part.
 *   <li>A node takes a free part before it uses it. It returns a part that it has not used for a
 *       second.
 *   <li>Nodes that wait get their even part; for the last one the earliest due time decides.
 *   <li>A full share of others does not show use. Before a node refuses a job for a full key it
 *       asks in the record, and judges by the answers.
 * </ul>
 *
 * <p><b>Crash.</b>
 *
 * <ul>
 *   <li>The node dies: its part is free ten seconds after others judged it dead, because its
 *       handlers had that time to stop.
 *   <li>The node is fenced: it writes its part again before it uses it. If others have left it out
 *       meanwhile, that write meets another version.
 *   <li>A clock that went back costs a rate at most one full bucket and a second.
 * </ul>
 */
@NullMarked
package dev.carillon.engine.limit;

import org.jspecify.annotations.NullMarked;
