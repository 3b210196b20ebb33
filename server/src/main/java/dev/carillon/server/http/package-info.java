/**
 * HTTP: the table of routes, the way of a request, problems and limits. It knows no job.
 *
 * <p>The way of a request, each step with the answer where it ends there:
 *
 * <ol>
 *   <li>{@link dev.carillon.server.http.Connections}: as many connections of one address as may be,
 *       and no request that comes for longer than it may; else the connection is closed.
 *   <li>{@link dev.carillon.server.http.Admittance}: as many requests at once and bytes of bodies
 *       as may be, over all and of one caller; else 429 with {@code Retry-After}, before anything
 *       is read. Probes pass.
 *   <li>{@link dev.carillon.server.http.Router}: the route of path and method; else 404, 405.
 *   <li>{@link dev.carillon.server.access.Access}: who asks, and whether that role is enough; else
 *       401, 403.
 *   <li>The body: {@code application/json} (else 415), within the route's bytes (else 413) and the
 *       time to send (else 408).
 *   <li>The handler of the route; what it throws becomes a problem (RFC 9457) in {@link
 *       dev.carillon.server.http.Problems}. An outcome that is not known is a problem of its own
 *       type and says how to ask again.
 * </ol>
 *
 * <p>A {@link dev.carillon.server.http.Route} is data: operation, method, path, role, query
 * parameters, limit of the body, handler. The router, the checks of access, the audit, the meters
 * and the test that compares it with {@code openapi.yaml} read the same table.
 *
 * <p>Requests run on virtual threads, one each, and may block. State: the counters of {@code
 * Admittance}; everything else is immutable. Stopping: {@link
 * dev.carillon.server.http.HttpFace#stop} refuses new requests with 503, waits for those that run,
 * and interrupts the rest, which answer what they know.
 */
@NullMarked
package dev.carillon.server.http;

import org.jspecify.annotations.NullMarked;
