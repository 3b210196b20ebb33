package dev.carillon.server;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/** A node, its server on any free port, and a client that judges what it hears. */
final class ServerFixture implements AutoCloseable {
  static final ServerOptions OPTIONS =
      ServerOptions.standard().port(0).stopGrace(Duration.ofSeconds(2));

  final Carillon carillon;
  final CarillonServer server;
  final ApiClient client;

  private ServerFixture(Carillon carillon, ServerOptions options) {
    this.carillon = carillon;
    try {
      this.server = CarillonServer.start(carillon, options);
      this.client = new ApiClient(server, new ApiDescription());
    } catch (IOException e) {
      carillon.close();
      throw new UncheckedIOException(e);
    }
  }

  static ServerFixture on(String url) {
    return on(Carillon.builder().url(url));
  }

  static ServerFixture on(CarillonBuilder builder) {
    return on(builder, OPTIONS);
  }

  static ServerFixture on(CarillonBuilder builder, ServerOptions options) {
    return new ServerFixture(builder.closeGrace(Duration.ofSeconds(2)).open(), options);
  }

  @Override
  public void close() {
    client.close();
    server.close();
    carillon.close();
  }
}
