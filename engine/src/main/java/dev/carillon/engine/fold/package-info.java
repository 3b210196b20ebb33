/**
 * The state machine of a shard: a pure function from the operations of a journal to the state of
 * its jobs.
 *
 * <p><b>State.</b> One {@code ShardFold} for each loaded shard: its live jobs ({@code FoldedJob}),
 * the debts to jobs that wait, the numbers of its dead letters, counts. Of a workflow it keeps the
 * wait, the children and the places of its event history ({@code WorkflowState}), never results.
 * {@code ShardFold} alone changes it, with {@code WorkflowFold} as its part for the operations of
 * workflows: one operation at a time, in journal order. While a shard is being read the reading
 * thread owns its fold; afterwards the loop does. Two parts of a job are not the fold's: {@code
 * PayloadMemory} drops and restores the encoded body, and a node notes why it could not decode a
 * job.
 *
 * <pre>
 *             START SAVE RETRY AGAIN NEXT             (of the current attempt and revision)
 *             LEASE                                   (of the same, by a worker elsewhere)
 *             CLEAR PAUSE RESUME CHANGE REPLACE UPDATE CANCEL WAITER MET
 *             CHECKPOINT WAIT SIGNAL CHILD_ENDED RENEW HISTORY         (of workflows)
 *                 ┌──────┐
 *                 ▼      │
 *   ADD, STATE → live ───┘
 *                 │ END, or a NEXT that is the last
 *                 ├────────────────────────────→ ended: SUCCEEDED FAILED CANCELLED EXPIRED
 *                 └──→ DEAD: dead letter ──DISCARD──→ no longer kept
 *                           └──REPLAY──→ live again, same number, no attempts
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>Total: every operation yields an answer (APPLIED, NO_SUCH_JOB, STALE, DUPLICATE, FULL). An
 *       operation that does not fit changes nothing and says so.
 *   <li>Callers are answered from the fold, never from a check made when the request came.
 *   <li>An operation of an attempt names that attempt and the job's revision (all but CLEAR).
 *       Another attempt or revision makes it STALE. So one outcome of an attempt counts.
 *   <li>A CHECKPOINT, WAIT or RENEW names how many entries the workflow's code had made before.
 *       Another number makes it STALE. The fold decides which entry ends a wait.
 *   <li>Snapshot and tail give the same state as the whole journal.
 *   <li>The END of a job that others wait for leaves a debt for each of them, until TOLD.
 *   <li>Replay, the live path, queries and the simulator's probes use this one function.
 * </ul>
 *
 * <p><b>Crash.</b> The fold is rebuilt from the journal. It holds nothing that is not there.
 */
@NullMarked
package dev.carillon.engine.fold;

import org.jspecify.annotations.NullMarked;
