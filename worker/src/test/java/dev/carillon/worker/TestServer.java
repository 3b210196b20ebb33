package dev.carillon.worker;

import dev.carillon.Carillon;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.access.Access;
import dev.carillon.server.access.LoopbackAccess;
import dev.carillon.server.gateway.GatewayLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Function;

/** A server on SQLite in the process of a test, which can be stopped and started again. */
final class TestServer implements AutoCloseable {
  private final String url;
  private final String node;
  private final GatewayLimits limits;
  private final Function<Carillon, Access> access;
  private int port;
  private Carillon carillon;
  private CarillonServer server;

  TestServer(Path file) {
    this(file, GatewayLimits.standard(), carillon -> new LoopbackAccess());
  }

  /** A node among those of a store. */
  TestServer(String url, String node) {
    this(url, node, GatewayLimits.standard(), carillon -> new LoopbackAccess());
  }

  TestServer(Path file, GatewayLimits limits, Function<Carillon, Access> access) {
    this("jdbc:sqlite:" + file, "tested", limits, access);
  }

  private TestServer(
      String url, String node, GatewayLimits limits, Function<Carillon, Access> access) {
    this.url = url;
    this.node = node;
    this.limits = limits;
    this.access = access;
    start();
  }

  void start() {
    carillon =
        Carillon.builder()
            .url(url)
            .nodeId(node)
            .daemon(true)
            .advanced(a -> a.expectWorkers(true))
            .open();
    try {
      server =
          CarillonServer.start(
              carillon,
              ServerOptions.standard()
                  .port(0)
                  .workers(new ServerOptions.Workers(port, null, limits))
                  .access(access.apply(carillon)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    port = Objects.requireNonNull(server.workerAddress()).getPort();
  }

  Carillon carillon() {
    return carillon;
  }

  /** What the API answers to a path. */
  String get(String path) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      String base = "http://localhost:" + server.address().getPort();
      return client
          .send(
              HttpRequest.newBuilder(URI.create(base + path)).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  String workers() {
    return "localhost:" + port;
  }

  /** As {@code ./carillon serve} does it. */
  void stop() {
    server.stop();
    carillon.close();
    server.close();
  }

  @Override
  public void close() {
    stop();
  }
}
