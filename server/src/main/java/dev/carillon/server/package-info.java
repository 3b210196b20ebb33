/**
 * A node with an HTTP API: {@code ./carillon serve}.
 *
 * <p>Rooms, each using only those before it:
 *
 * <ol>
 *   <li>{@code access}: who asks, and what they may
 *   <li>{@code json}: JSON in and out
 *   <li>{@code http}: the table of routes, the way of a request, problems, limits
 *   <li>{@code gateway}: the listener for workers
 *   <li>{@code webhook}: jobs whose work is an HTTP request
 *   <li>{@code jobs}: jobs, schedules, workflows, dead letters, bulk actions
 *   <li>{@code operate}: probes, meters, queues, the cluster, events
 *   <li>{@code pages}: the dashboard's files
 *   <li>{@code login}: sign-in of people, with a provider or by a token that they type
 *   <li>this one: {@link dev.carillon.server.CarillonServer} puts them together, opens and stops
 * </ol>
 *
 * <p>The server has no state of its own beside counters: what it is asked to keep are jobs and
 * records of the store. So a server can be killed at any line, and another one on the same store
 * answers as it would have.
 */
@NullMarked
package dev.carillon.server;

import org.jspecify.annotations.NullMarked;
