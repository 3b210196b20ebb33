/**
 * Runs jobs of a server in another process, which needs no database and holds no part of the
 * engine. {@link dev.carillon.worker.CarillonWorker} is where to begin.
 *
 * <p><b>State.</b> {@code WorkerCore}, owned by the thread of {@code WorkerLoop}: the servers, and
 * the attempts that run or whose outcomes are not settled. It reads no clock and does no I/O:
 * events come with the time, and what it wants done it tells its {@code Surroundings}.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>An attempt that nobody vouches for is stopped before its server's successor gives it away:
 *       time is counted from when the last answered beat was <i>sent</i>.
 *   <li>An outcome is kept until a server has settled it, or called it stale.
 *   <li>No more handlers run than there are slots.
 * </ul>
 *
 * <p><b>Crash.</b> What this process ran is lost with it: its servers hear nothing, and after the
 * lease it counts as a failed attempt of each job. What a server's death does to this process is
 * decided by leases: the rules stand in {@code worker.proto}.
 */
@NullMarked
package dev.carillon.worker;

import org.jspecify.annotations.NullMarked;
