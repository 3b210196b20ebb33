/**
 * The ports of the engine: clocks, randomness, store calls, metrics and news come through {@code
 * NodeEnvironment} and nowhere else. So a whole node runs inside a deterministic simulation.
 *
 * <p><b>State.</b> {@code Timers} is the one type with state: actions by time of the monotonic
 * clock. The loop owns it; every room may set and cancel a timer. {@code NodeOptions} and {@code
 * Membership} are immutable settings.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>No other room reads a clock, draws a random number, starts a thread, takes a lock or does
 *       I/O. {@code ArchitectureTest} enforces this.
 *   <li>{@code submit} runs a store call beside the loop and delivers its answer on the loop. Calls
 *       of one {@code Channel} run in order, one at a time. Calls of two channels do not wait for
 *       each other.
 *   <li>Due times are times of the wall clock, which may jump. Waits, timeouts and heartbeats are
 *       times of the monotonic clock.
 *   <li>Timers of one turn run in order of their time, then in the order in which they were set.
 *   <li>A node tells each {@code NodeEvent} once, in order. No room depends on who hears it, and no
 *       event carries a payload.
 * </ul>
 *
 * <p><b>Crash.</b> Nothing of this room is durable. The next owner of a shard finds due work by the
 * shard's wake time, and other duties in records, so a lost timer costs time and no job.
 */
@NullMarked
package dev.carillon.engine.environment;

import org.jspecify.annotations.NullMarked;
