/**
 * Reads and rewrites the journal of a shard as a whole: load, compaction, packing, and the events
 * that a job's history tells.
 *
 * <p><b>State.</b> The room owns none that outlives a call. Its work runs beside the loop, on a
 * fold of its own. {@code Summary} is the part of a shard's head that an owner writes for the next
 * one.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>{@code ShardLoad} reads one generation up to a number. Entries appended later reach the
 *       shard while it is loading.
 *   <li>A {@code Compaction} writes live jobs as STATE, with {@code PastAttempts} behind it. It
 *       keeps every operation of dead and failed jobs. Jobs that ended otherwise stay in the old
 *       generation until their retention ends.
 *   <li>{@code WorkflowHistory} reads the event history of one workflow by its places. A compaction
 *       writes it together, as HISTORY behind the STATE, and hands out the new places.
 *   <li>A packed generation ({@code PackPlan}) holds every operation of the one it replaces, in
 *       blocks of 256 KiB with a {@code Footer} behind them.
 *   <li>A payload that a recurring job shares with its occurrences stands once in a generation
 *       ({@code SharedPayloads}).
 *   <li>Filters ({@code Packed}, {@code MetadataFilter}) may say "perhaps" wrongly, never "no".
 *   <li>{@code EventPage} holds one page of a job's events, so a year of occurrences is never in
 *       memory.
 *   <li>{@code DamagedHead} finds the one head that hides a page of heads, so that readers name it
 *       and go on behind it.
 *   <li>A {@code Bucket} starts at a multiple of its width. Width grows with distance; a full
 *       bucket is followed by narrower ones.
 * </ul>
 *
 * <p><b>Crash.</b> Until a publish takes effect the old generation is the shard, whatever was
 * staged. After it the new generation is. A publish names the tail that was read, so it cannot
 * leave out an entry that was appended meanwhile.
 */
@NullMarked
package dev.carillon.engine.history;

import org.jspecify.annotations.NullMarked;
