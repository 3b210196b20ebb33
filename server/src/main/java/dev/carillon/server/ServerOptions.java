package dev.carillon.server;

import dev.carillon.server.access.Access;
import dev.carillon.server.access.LoopbackAccess;
import dev.carillon.server.http.HttpLimits;
import dev.carillon.server.webhook.WebhookSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * How a server listens. Immutable; each method returns a copy.
 *
 * @param address where it listens: port 8470 of the loopback interface by default
 * @param access who may ask: clients of this machine by default
 * @param limits how much it takes at once
 * @param stopGrace how long requests that run may go on when it stops
 * @param webhooks what webhooks may reach and what signs them; asked for by each attempt
 */
public record ServerOptions(
    InetSocketAddress address,
    Access access,
    HttpLimits limits,
    Duration stopGrace,
    Supplier<WebhookSettings> webhooks) {
  /** The port by default. */
  public static final int DEFAULT_PORT = 8470;

  private static final Duration STOP_GRACE = Duration.ofSeconds(10);

  /**
   * Refuses to open what nobody guards.
   *
   * @throws IllegalArgumentException if the address is not a loopback one and the access does not
   *     authenticate
   */
  public ServerOptions {
    if (!access.authenticates() && !address.getAddress().isLoopbackAddress()) {
      throw new IllegalArgumentException(
          "address: %s (expected: a loopback one, until authentication is configured)"
              .formatted(address.getAddress().getHostAddress()));
    }
  }

  /** The defaults. */
  public static ServerOptions standard() {
    return new ServerOptions(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), DEFAULT_PORT),
        new LoopbackAccess(),
        HttpLimits.standard(),
        STOP_GRACE,
        WebhookSettings::none);
  }

  /** With another port of the same address; 0 for any that is free. */
  public ServerOptions port(int port) {
    return address(new InetSocketAddress(address.getAddress(), port));
  }

  /** With another address. */
  public ServerOptions address(InetSocketAddress address) {
    return new ServerOptions(address, access, limits, stopGrace, webhooks);
  }

  /** With another access. */
  public ServerOptions access(Access access) {
    return new ServerOptions(address, access, limits, stopGrace, webhooks);
  }

  /** With other limits. */
  public ServerOptions limits(HttpLimits limits) {
    return new ServerOptions(address, access, limits, stopGrace, webhooks);
  }

  /** With another grace. */
  public ServerOptions stopGrace(Duration stopGrace) {
    return new ServerOptions(address, access, limits, stopGrace, webhooks);
  }

  /** With other settings of webhooks. */
  public ServerOptions webhooks(Supplier<WebhookSettings> webhooks) {
    return new ServerOptions(address, access, limits, stopGrace, webhooks);
  }
}
