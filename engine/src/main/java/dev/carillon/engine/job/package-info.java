/**
 * The description of a job as the store holds it: identity, request, schedule, policy, limits,
 * names.
 *
 * <p><b>State.</b> The room owns none; its types are immutable values and their formats. One
 * exception: {@code JobSpec} sets the time of acceptance and the version of the name's record in
 * encoded bytes that the loop has not sent yet.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>{@code JobRef} is a shard id and a number; a {@code JobId} is its text. So a node finds any
 *       job without an index.
 *   <li>A number has the epoch of the shard in its upper 24 bits and a counter below. Each claim
 *       starts the counter at a random value. So no number is given twice, also not where an
 *       operator restores an older copy of the store and epochs come again.
 *   <li>{@code JobSpec} is the body of an ADD. {@code OptionalSpec} holds the parts that few jobs
 *       have, behind a mask.
 *   <li>A record of {@code Names} only points at a job. The ADD in that job's journal alone says
 *       whether the name is taken.
 *   <li>A {@code Ticket} is a job's id before the job has a shard: a user's transaction wrote the
 *       job. Its record lives and ends as the record of an idempotency key does.
 *   <li>{@code ScheduleState} is the next occurrence of a recurring job and its counters. Times are
 *       virtual: a late occurrence does not shift the next one.
 *   <li>Every format begins with a version. A reader refuses a version that it does not know.
 * </ul>
 *
 * <p><b>Crash.</b> Values have no behaviour at a crash. A name's record may point at a job that was
 * never added; the next taker of the name finds that out (room {@code request}).
 */
@NullMarked
package dev.carillon.engine.job;

import org.jspecify.annotations.NullMarked;
