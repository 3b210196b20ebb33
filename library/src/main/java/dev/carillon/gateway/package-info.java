/**
 * How a gateway brings workers to a node: processes elsewhere, in any language, that run its jobs.
 *
 * <p>A gateway, such as the server's, has the connections of workers and speaks some protocol with
 * them. It begins at {@link dev.carillon.NodeControl#workers()}. What a worker says it passes on to
 * a {@link dev.carillon.gateway.WorkerConnection}; what the node says to the worker it hears as a
 * {@link dev.carillon.gateway.WorkerListener}. Leases, timeouts, limits and outcomes are the
 * node's: a gateway keeps nothing, and nothing is lost with it.
 */
@NullMarked
package dev.carillon.gateway;

import org.jspecify.annotations.NullMarked;
