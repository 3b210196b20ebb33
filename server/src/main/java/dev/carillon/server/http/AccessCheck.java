package dev.carillon.server.http;

import dev.carillon.server.access.Access;
import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Problem.Kind;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The one check of all routes, before a body is read: who asks, whether that role is enough in the
 * namespace, and whether the caller reaches the queues that the route is about. It looks at nothing
 * but the route, so that its answer says nothing of what is there.
 */
final class AccessCheck {
  /** What namespaces of the server's own begin with: admins look at them, nobody changes them. */
  static final String RESERVED = "carillon.";

  private static final String QUEUE = "queue";

  private AccessCheck() {}

  /** Who asks. */
  static Caller caller(Access access, Arrival arrival, Route route) {
    return route.role() == Role.ANYONE ? access.anyone(arrival) : access.identify(arrival);
  }

  /** Refuses a caller who is known and may not do that. */
  static void check(Caller caller, Route route, Map<String, String> variables) {
    String namespace = route.isOfNamespace() ? variables.get(Call.NAMESPACE) : null;
    boolean reserved = namespace != null && namespace.startsWith(RESERVED);
    if (reserved && !route.method().reads()) {
      throw forbidden("namespace: one of the server's own (expected: another one)");
    }
    Role needed = reserved ? Role.ADMIN : route.role();
    if (!caller.has(needed, namespace)) {
      throw forbidden(
          "role: not enough (expected: %s%s)"
              .formatted(
                  needed.word(), namespace != null ? " of the namespace" : " of all namespaces"));
    }
    checkQueue(caller, route, namespace, variables.get(QUEUE));
  }

  private static void checkQueue(
      Caller caller, Route route, @Nullable String namespace, @Nullable String queue) {
    if (caller.reachesAllQueues() || route.looksAtQueues() || route.role() == Role.ANYONE) {
      return;
    }
    if (queue == null) {
      throw forbidden("queues: not all are the caller's (expected: a caller who reaches them all)");
    }
    if (!caller.mayUse(namespace, queue)) {
      throw forbidden("queue: not one of the caller's");
    }
  }

  private static Problem.Refusal forbidden(String detail) {
    return Problem.of(Kind.FORBIDDEN, detail).refusal();
  }
}
