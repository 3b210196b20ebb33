/**
 * Runs the code of workflows, live and from their histories. Not for users: what they see of it is
 * {@link dev.carillon.api.workflow.Workflow}.
 *
 * <p>A {@link dev.carillon.replay.WorkflowRun} is one run of a workflow's code on a thread of its
 * own, from its beginning. It knows no store, no loop and no clock: a {@link
 * dev.carillon.replay.WorkflowHost} gives it these, and each of the job's attempts is an {@link
 * dev.carillon.replay.Activation}. What the code sees is a function of the order of the history
 * alone:
 *
 * <ol>
 *   <li>A call that creates something takes the next number. Its entry in the history, if there is
 *       one, must be of the same kind and name.
 *   <li>What nobody waits for yet is kept in an outbox and written, in order, before or with the
 *       next thing that somebody waits for. One turn is under way at a time.
 *   <li>A call that waits takes the earliest entry among those it waits for. A cancel is always one
 *       of them.
 *   <li>Where nothing can go on and no step runs the activation ends with the wait, and the thread
 *       stays parked. Dropping it loses nothing.
 * </ol>
 *
 * <p>A run has one lock, held for moments only. Its history and its calls belong to its thread; the
 * outbox, the entries that were told and the activation to whoever holds the lock.
 */
@NullMarked
package dev.carillon.replay;

import org.jspecify.annotations.NullMarked;
