package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.micrometer.CarillonMeters;
import dev.carillon.server.access.Role;
import dev.carillon.server.gateway.GatewayFigures;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Observer;
import dev.carillon.server.http.Route;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * The meters of a node and of its requests, as Prometheus reads them. Requests are counted by
 * operation and status class: the operations are those of the table, so that no client can add a
 * label.
 */
public final class Meters implements Observer, GatewayFigures, AutoCloseable {
  private static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<String, Timer> timers = new ConcurrentHashMap<>();

  /**
   * The meters of a node.
   *
   * @param carillon the node
   */
  public Meters(Carillon carillon) {
    new CarillonMeters(carillon).bindTo(registry);
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(Route.get("getMetrics", "/metrics", Role.VIEWER, this::metrics));
  }

  private Answer metrics(Call call) {
    return Answer.bytes(TYPE, registry.scrape().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void served(Served served) {
    String outcome = served.status() / 100 + "xx";
    timers
        .computeIfAbsent(
            served.route().operation() + ' ' + outcome,
            key -> timer(served.route().operation(), outcome))
        .record(served.nanos(), TimeUnit.NANOSECONDS);
  }

  private Timer timer(String operation, String outcome) {
    return Timer.builder("carillon.http.requests")
        .tags("operation", operation, "status", outcome)
        .register(registry);
  }

  @Override
  public void streams(IntSupplier streams) {
    Gauge.builder("carillon.worker.streams", () -> streams.getAsInt()).register(registry);
  }

  @Override
  public void connected() {
    count("connected");
  }

  @Override
  public void refused() {
    count("refused");
  }

  @Override
  public void ended() {
    count("ended");
  }

  private void count(String what) {
    registry.counter("carillon.worker.connections", "what", what).increment();
  }

  @Override
  public void close() {
    registry.close();
  }
}
