/**
 * The node: a deterministic core that is told the time and performs no I/O. {@code Node} is its
 * face and the order of a turn, {@code Assembly} makes its parts, and {@code MemberChanges} joins
 * and proves its shards.
 *
 * <p>The engine's types live in rooms, the sub-packages of this one. A room may use the rooms above
 * it in this list, never those below; a test holds the order.
 *
 * <pre>
 *   durable and pure   format        bytes of operations
 *                      job           a job as it is stored
 *                      environment   clocks, store calls, settings
 *                      fold          the state machine of a shard
 *                      history       load, compaction, packing, events
 *                      query         get, list, history
 *   owned by a node    commit        group commit, records
 *                      shard         claims, loads, wake times, retention
 *                      member        heartbeats, failover, formats
 *                      message       request/reply, messages, notifications
 *   running            limit         rates, shared limits
 *                      dispatch      lanes, gates, keys: which job starts
 *                      attempt       from start to durable outcome
 *                      life          due, dependencies, occurrences, end, cancel
 *                      loan          attempts on other nodes
 *   asked              request       add, controls, requests of other nodes
 *                      engine        Node, Assembly, MemberChanges
 * </pre>
 *
 * <p><b>State.</b> One thread, the loop, owns all state of a node. Its user calls {@code Node} from
 * that thread only, hands it what happened, and calls {@code turn()} after each round of events.
 *
 * <p><b>A turn</b>: timers, a jump of the clock, shards that became free, arrivals, due jobs, the
 * dispatcher, loans, messages, records, payloads, and last the commit. So one group commit holds
 * everything that a turn decided.
 *
 * <p><b>Invariants.</b> Nothing blocks. No room reads a clock, draws a random number, starts a
 * thread, logs or does I/O, but through {@code NodeEnvironment}. Write first, then apply.
 *
 * <p><b>Crash.</b> A node may die at any line. The journal and records are all that counts; each
 * room's page says what the next owner finds.
 */
@NullMarked
package dev.carillon.engine;

import org.jspecify.annotations.NullMarked;
