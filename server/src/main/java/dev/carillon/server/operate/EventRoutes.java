package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What happens to jobs, as it happens. */
public final class EventRoutes {
  private final Carillon carillon;
  private final BooleanSupplier stopping;

  /**
   * The events of a node.
   *
   * @param carillon the node
   * @param stopping whether the server stops: then streams end
   */
  public EventRoutes(Carillon carillon, BooleanSupplier stopping) {
    this.carillon = carillon;
    this.stopping = stopping;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get(
                "streamEvents",
                "/v1/namespaces/{ns}/events",
                Role.VIEWER,
                call -> stream(call, call.namespace()))
            .query(EventFilter.names())
            .waiting(),
        Route.get("streamAllEvents", "/v1/events", Role.VIEWER, call -> stream(call, null))
            .query(EventFilter.names())
            .waiting());
  }

  private Answer stream(Call call, @Nullable String namespace) {
    EventFilter filter = EventFilter.of(call, namespace);
    return Answer.stream("text/event-stream", new JobEventStream(carillon, filter, stopping));
  }
}
