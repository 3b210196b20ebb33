package dev.carillon.server.operate;

import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the caller may, so that programs offer nothing that would be refused. */
public final class AccessRoutes {
  /** Without state. */
  public AccessRoutes() {}

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("getAccess", "/v1/namespaces/{ns}/access", Role.VIEWER, AccessRoutes::access)
            .byQueue());
  }

  private static Answer access(Call call) {
    Caller caller = call.caller();
    return Answer.json(
        out ->
            out.put("caller", caller.name())
                .put("role", word(caller, call.namespace()))
                .put("everywhere", word(caller, null))
                .put("allQueues", caller.reachesAllQueues()));
  }

  private static @Nullable String word(Caller caller, @Nullable String namespace) {
    Role most = Role.ANYONE;
    for (Role role : Role.values()) {
      if (caller.has(role, namespace)) {
        most = role;
      }
    }
    return most == Role.ANYONE ? null : most.word();
  }
}
