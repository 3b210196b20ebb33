/**
 * Queries: get, list, history and export, read from journals through the fold that runs the jobs.
 *
 * <p><b>State.</b> The room owns none. A query reads beside the loop, or with no node at all. It
 * claims nothing and changes nothing.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>A query shows a job as its journal tells it. The node adds the phase of live jobs
 *       afterwards ({@code LivePhases}, room {@code life}).
 *   <li>Memory is bounded. {@code JobScan} holds the live jobs of one shard and one page. {@code
 *       NewestScan} holds one page, the dead letters of one shard and eight blocks.
 *   <li>{@code JobFilter} passes over a shard only where its head or footer rules out a match.
 *   <li>{@code PackedReader} reads footer, blocks and the entries appended since. It does not read
 *       the other blocks.
 *   <li>{@code HistoryReader} reads the whole shard of a workflow, for an export of its history.
 *   <li>{@code NamedJobs} finds a job by its name with one read of the name's record.
 * </ul>
 *
 * <p><b>Crash.</b> A query leaves nothing behind. A shard that is rewritten during a query is read
 * again in its new generation.
 */
@NullMarked
package dev.carillon.engine.query;

import org.jspecify.annotations.NullMarked;
