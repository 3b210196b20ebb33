/**
 * The listener for workers: gRPC on a port of its own ({@code worker.proto}).
 *
 * <p>A stream is a {@code WorkerSession}. What a worker says is checked here and passed on to the
 * node; what the node says stands in the session's queue, until the worker reads it. Threads of
 * connections and of the node only put something into a queue and return.
 *
 * <p><b>State.</b> The streams and their queues. Leases, attempts and outcomes are the node's:
 * nothing is lost with a stream.
 *
 * <p><b>Limits.</b> {@code GatewayLimits}: streams, the size of messages, words that wait for a
 * worker, the time until it says hello and until it reads.
 */
@NullMarked
package dev.carillon.server.gateway;

import org.jspecify.annotations.NullMarked;
