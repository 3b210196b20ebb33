/**
 * Who asks, and what they may. The first room of the server: it knows no HTTP, no route and no job.
 *
 * <p>{@link dev.carillon.server.access.Access} is the seam. It looks at what is known of a request
 * before its body is read ({@link dev.carillon.server.access.Arrival}) and answers who asks ({@link
 * dev.carillon.server.access.Caller}), or refuses. The router asks it once for each request and
 * then asks the caller whether it has the role of the route. No handler checks a role.
 *
 * <p>{@link dev.carillon.server.access.LoopbackAccess} is the access of a server without
 * authentication: clients of this machine only, all of them admins. The server refuses to listen on
 * any other address with an access that does not authenticate.
 *
 * <p>State: none. Everything here is immutable and thread-safe.
 */
@NullMarked
package dev.carillon.server.access;

import org.jspecify.annotations.NullMarked;
