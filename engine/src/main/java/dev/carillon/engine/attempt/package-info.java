/**
 * Attempts: from the dispatcher's grant to the durable outcome of a handler.
 *
 * <p><b>State.</b> {@code AttemptSet} holds the attempts under way. The loop owns it; {@code
 * Starts}, {@code Outcomes}, {@code Stops} and {@code TransactionOutcomes} change it. An {@code
 * Attempt} is immutable for the handler's thread, but for the requests to stop that the loop sets.
 *
 * <pre>
 *   granted → START durable, where required → last look → handler runs → returned: slot free
 *                                               │ not due, paused, fenced, changed     │
 *                                               ▼                                      ▼
 *                                          as if not made              outcome decided, once
 *                                                                                      │
 *        END, RETRY, AGAIN or NEXT durable: settled, key free ◀────────────────────────┘
 * </pre>
 *
 * <p>An attempt of a workflow is an activation: it also ends in a durable WAIT, which frees the
 * slot and counts no attempt ({@code WorkflowOutcomes}).
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>The loop looks once more at job and clock before it calls {@code AttemptRunner}. The
 *       handler's thread looks at the clock again.
 *   <li>The first outcome that the loop takes counts. A later one is stale and changes nothing.
 *   <li>A START marker is durable before the handler is called where the job was due in a suspect
 *       shard, has markers, or runs alone. Only a crash while a job runs alone convicts it ({@code
 *       Poison}).
 *   <li>Handlers run ahead of the store only so far: 16 attempts a slot, 18 for lanes with few.
 *   <li>No journal says anything of an attempt that an open transaction may still complete ({@code
 *       Completions}). A committed transaction is the outcome, whatever the handler did afterwards.
 *   <li>A workflow that has begun and has something to undo ends only after a durable {@code
 *       GivenUp} or CANCEL, and after its compensations. Its children are cancelled before its END.
 *   <li>{@code Retries} counts the wait from the time the failed attempt was to be; {@code
 *       Recurrences} counts the next time from the last one. Neither drifts.
 * </ul>
 *
 * <p><b>Crash.</b> Before the outcome is in the journal the next owner makes the attempt again,
 * under the same number. After it, never. A committed {@code completeIn} is found as a row.
 */
@NullMarked
package dev.carillon.engine.attempt;

import org.jspecify.annotations.NullMarked;
