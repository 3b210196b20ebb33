package dev.carillon.server;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.Role;
import dev.carillon.server.access.Scope;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/** A node, its server on any free port, and a client that judges what it hears. */
final class ServerFixture implements AutoCloseable {
  static final ServerOptions OPTIONS =
      ServerOptions.standard().port(0).stopGrace(Duration.ofSeconds(2));

  final Carillon carillon;
  final CarillonServer server;
  final ApiClient client;

  private ServerFixture(Carillon carillon, Function<Carillon, ServerOptions> options) {
    this.carillon = carillon;
    try {
      this.server = CarillonServer.start(carillon, options.apply(carillon));
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
    return on(builder, carillon -> options);
  }

  static ServerFixture on(CarillonBuilder builder, Function<Carillon, ServerOptions> options) {
    return new ServerFixture(builder.closeGrace(Duration.ofSeconds(2)).open(), options);
  }

  /** A server that asks for tokens; its client has none. */
  static ServerFixture secured(CarillonBuilder builder) {
    return on(
        builder,
        carillon -> OPTIONS.access(new ProvenAccess(List.of(new TokenProof(tokens(carillon))))));
  }

  private static Tokens tokens(Carillon carillon) {
    return new Tokens(carillon.node().sharedRecords(Tokens.AREA));
  }

  /** A new token for all queues, as its owner gets it. */
  String token(Role role, String... namespaces) {
    Tokens.Wanted wanted =
        new Tokens.Wanted("test", role, Scope.of(List.of(namespaces)), Scope.ALL, null);
    return tokens(carillon).create(wanted, "the test", Instant.now()).text().text();
  }

  /** A new token for one queue of a namespace. */
  String tokenOfQueue(Role role, String namespace, String queue) {
    Tokens.Wanted wanted =
        new Tokens.Wanted(
            "test", role, Scope.of(List.of(namespace)), Scope.of(List.of(queue)), null);
    return tokens(carillon).create(wanted, "the test", Instant.now()).text().text();
  }

  @Override
  public void close() {
    client.close();
    server.close();
    carillon.close();
  }
}
