package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.api.Health;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Probes and the description of the API, for anyone. */
public final class ProbeRoutes {
  private final Carillon carillon;
  private final BooleanSupplier stopping;
  private final byte[] description;

  /**
   * The probes of a node.
   *
   * @param carillon the node
   * @param stopping whether the server stops: then it is not ready
   */
  public ProbeRoutes(Carillon carillon, BooleanSupplier stopping) {
    this.carillon = carillon;
    this.stopping = stopping;
    this.description = resource("/dev/carillon/server/openapi.yaml");
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("getLiveness", "/health/live", Role.ANYONE, this::live),
        Route.get("getReadiness", "/health/ready", Role.ANYONE, this::ready),
        Route.get("getDescription", "/openapi.yaml", Role.ANYONE, this::description));
  }

  private Answer live(Call call) {
    Health health = carillon.node().health();
    return health(health.live(), health.live() ? "ok" : health.detail());
  }

  /** The detail of a store's trouble may name its address: only the kind of trouble is told. */
  private Answer ready(Call call) {
    Health health = carillon.node().health();
    if (stopping.getAsBoolean()) {
      return health(false, "stopping");
    }
    if (health.ready()) {
      return health(true, "ok");
    }
    return health(false, health.detail().startsWith("store") ? "the store is away" : "not ready");
  }

  private static Answer health(boolean ok, String detail) {
    return Answer.json(ok ? 200 : 503, out -> out.put("ok", ok).put("detail", detail));
  }

  private Answer description(Call call) {
    return Answer.bytes("application/yaml", description);
  }

  private static byte[] resource(String name) {
    try (InputStream in = ProbeRoutes.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " (expected: a resource of the server)");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
