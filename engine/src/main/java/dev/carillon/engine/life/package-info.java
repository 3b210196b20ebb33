/**
 * The life of a job on this node beyond one attempt: arrival, due time, deadline, dependencies,
 * occurrences, end, and the watchers who hear of it.
 *
 * <p><b>State.</b> The loop owns it, in memory only: {@code Watchers} (who watches which job),
 * timers of deadlines ({@code JobLife}), registrations and debts under way ({@code Dependencies}).
 * The journal holds everything else.
 *
 * <pre>
 *   arrives → waits for its time → due → blocked by a dependency, or ready for dispatch
 *      │                                     │ deadline passed: EXPIRED
 *      └── dependency cannot be met: CANCELLED
 *   ended → key left, name freed (NameRelease), debts paid (Dependencies), watchers told
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>{@code Dependencies} delivers each end: WAITER registers the waiting job, the END leaves a
 *       debt, MET tells the waiting job, TOLD pays the debt. A shard with debts stays awake and
 *       loaded.
 *   <li>{@code Occurrences} adds an occurrence as a job and moves the schedule in one operation,
 *       NEXT.
 *   <li>{@code Updates} lets a recurring job that is declared again keep its count, pause and
 *       missed times. Only another schedule moves its next time.
 *   <li>{@code NameRelease} frees a name only by the version of the record that the job's ADD
 *       carries. A name that another job has taken stays that job's.
 *   <li>{@code Cancels} ends any job, loaded or not. A visit reads jobs of an unloaded shard,
 *       appends their ENDs and leaves the shard unloaded. Visits of a shard go one at a time; what
 *       comes meanwhile is for the next one.
 *   <li>{@code ChildEnds} tells a workflow the end of its child by CHILD_ENDED, with the result:
 *       the same debt, another news.
 *   <li>{@code Cancels} wakes a workflow that has begun instead of ending it.
 *   <li>{@code Workflows} writes what a workflow's code did, and reads its history for a replay.
 *   <li>{@code LivePhases} notes phases on the loop; the caller's thread merges them into a list.
 * </ul>
 *
 * <p><b>Crash.</b>
 *
 * <ul>
 *   <li>Before a registration: the next load of the waiting job registers it again.
 *   <li>After an END: the debt is in the fold until it is paid. News that arrive twice change
 *       nothing.
 *   <li>Before a name is freed: the next owner frees it when it loads the suspect shard.
 *   <li>A watcher is gone with its process; it asks again.
 * </ul>
 */
@NullMarked
package dev.carillon.engine.life;

import org.jspecify.annotations.NullMarked;
