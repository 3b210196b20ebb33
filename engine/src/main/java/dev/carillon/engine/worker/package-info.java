/**
 * Workers outside the nodes that are connected to this one, and the attempts that they run.
 *
 * <p><b>State.</b> {@code WorkerLinks} has the connections, {@code OutAttempts} the attempts of
 * this node's jobs that workers run, {@code WorkerRelay} those of other nodes' in workers that are
 * connected here, {@code FarWorkers} the workers that are connected to other nodes. The loop owns
 * all of it. The journal has the leases of those that have lasted a second.
 *
 * <pre>
 *   given → accepted → leased (a second later) → outcome durable: settled
 *     │        │          └─ silent for the lease: worker lost, the policy says what follows
 *     │        └─ silent for five seconds: the same
 *     └─ not accepted within five seconds: as if not made
 * </pre>
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>To its owner an attempt in a worker is what a lent one is: it holds gates, rate and key
 *       here, takes no slot, and its outcome is written here.
 *   <li>A beat is answered only while nobody can have taken this node for dead. So a worker that
 *       goes by answered beats stops before any later owner gives its attempt to another.
 *   <li>An outcome counts by the nonce of its attempt, never by the name of its worker.
 *   <li>The worker hears that an outcome is settled only once it is durable.
 *   <li>How many more a worker takes is an absolute number, as of the last attempt it had seen.
 * </ul>
 *
 * <p><b>Crash.</b> The worker dies: its leases end in silence, which counts as attempts. This node
 * dies: the next owner adopts what is leased and makes the rest again. The connection breaks: the
 * lease decides, never the connection.
 */
@NullMarked
package dev.carillon.engine.worker;

import org.jspecify.annotations.NullMarked;
