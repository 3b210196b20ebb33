package dev.carillon.server;

import dev.carillon.server.access.Access;
import dev.carillon.server.access.LoopbackAccess;
import dev.carillon.server.gateway.GatewayLimits;
import dev.carillon.server.http.HttpLimits;
import dev.carillon.server.http.TlsOptions;
import dev.carillon.server.jobs.Redaction;
import dev.carillon.server.login.LoginRoutes;
import dev.carillon.server.webhook.WebhookSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How a server listens. Immutable; each method returns a copy.
 *
 * @param address where it listens: port 8470 of the loopback interface by default
 * @param access who may ask: clients of this machine by default
 * @param tls its certificate; null for no TLS
 * @param proxied whether a proxy before it speaks TLS with clients
 * @param login how people sign in: not at all by default
 * @param redaction what is shown of inputs and results: all by default
 * @param limits how much it takes at once
 * @param stopGrace how long requests that run may go on when it stops
 * @param webhooks what webhooks may reach and what signs them; asked for by each attempt
 * @param workers the listener for workers, on the same interface with the same access and TLS; null
 *     for none
 */
public record ServerOptions(
    InetSocketAddress address,
    Access access,
    @Nullable TlsOptions tls,
    boolean proxied,
    LoginRoutes login,
    Redaction redaction,
    HttpLimits limits,
    Duration stopGrace,
    Supplier<WebhookSettings> webhooks,
    @Nullable Workers workers) {
  /** The port by default. */
  public static final int DEFAULT_PORT = 8470;

  /** The port of workers by default. */
  public static final int DEFAULT_WORKER_PORT = 8471;

  /**
   * The listener for workers.
   *
   * @param port of the server's address
   * @param advertised {@code host:port} by which workers reach it; null for the server's address
   * @param limits how much it takes
   */
  public record Workers(int port, @Nullable String advertised, GatewayLimits limits) {}

  private static final Duration STOP_GRACE = Duration.ofSeconds(10);

  /**
   * Refuses to open what nobody guards.
   *
   * @throws IllegalArgumentException if the address is not a loopback one, and the access does not
   *     authenticate or there is no TLS
   */
  public ServerOptions {
    if (!address.getAddress().isLoopbackAddress()) {
      if (!access.authenticates()) {
        throw wrong(address, "until authentication is configured");
      }
      if (tls == null && !proxied) {
        throw wrong(address, "without TLS here or in a proxy before it");
      }
    }
  }

  private static IllegalArgumentException wrong(InetSocketAddress address, String why) {
    return new IllegalArgumentException(
        "address: %s (expected: a loopback one, %s)"
            .formatted(address.getAddress().getHostAddress(), why));
  }

  /** The defaults. */
  public static ServerOptions standard() {
    return new ServerOptions(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), DEFAULT_PORT),
        new LoopbackAccess(),
        null,
        false,
        LoginRoutes.none(),
        Redaction.NONE,
        HttpLimits.standard(),
        STOP_GRACE,
        WebhookSettings::none,
        null);
  }

  /** With another port of the same address; 0 for any that is free. */
  public ServerOptions port(int port) {
    return address(new InetSocketAddress(address.getAddress(), port));
  }

  /** With another address. */
  public ServerOptions address(InetSocketAddress address) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With another access. */
  public ServerOptions access(Access access) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With TLS. */
  public ServerOptions tls(TlsOptions tls) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With a proxy before it that speaks TLS with clients. */
  public ServerOptions behindProxy() {
    return new ServerOptions(
        address, access, tls, true, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With a sign-in for people. */
  public ServerOptions login(LoginRoutes login) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With parts of inputs and results left out. */
  public ServerOptions redaction(Redaction redaction) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With other limits. */
  public ServerOptions limits(HttpLimits limits) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With another grace. */
  public ServerOptions stopGrace(Duration stopGrace) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With a listener for workers on a port; 0 for any that is free. */
  public ServerOptions workers(int port) {
    return workers(new Workers(port, null, GatewayLimits.standard()));
  }

  /** With a listener for workers. */
  public ServerOptions workers(@Nullable Workers workers) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }

  /** With other settings of webhooks. */
  public ServerOptions webhooks(Supplier<WebhookSettings> webhooks) {
    return new ServerOptions(
        address, access, tls, proxied, login, redaction, limits, stopGrace, webhooks, workers);
  }
}
