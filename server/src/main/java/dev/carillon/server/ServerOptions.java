package dev.carillon.server;

import dev.carillon.server.access.Access;
import dev.carillon.server.access.LoopbackAccess;
import dev.carillon.server.http.HttpLimits;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * How a server listens. Immutable; each method returns a copy.
 *
 * @param address where it listens: port 8470 of the loopback interface by default
 * @param access who may ask: clients of this machine by default
 * @param limits how much it takes at once
 * @param stopGrace how long requests that run may go on when it stops
 */
public record ServerOptions(
    InetSocketAddress address, Access access, HttpLimits limits, Duration stopGrace) {
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
        STOP_GRACE);
  }

  /** With another port of the same address; 0 for any that is free. */
  public ServerOptions port(int port) {
    return address(new InetSocketAddress(address.getAddress(), port));
  }

  /** With another address. */
  public ServerOptions address(InetSocketAddress address) {
    return new ServerOptions(address, access, limits, stopGrace);
  }

  /** With another access. */
  public ServerOptions access(Access access) {
    return new ServerOptions(address, access, limits, stopGrace);
  }

  /** With other limits. */
  public ServerOptions limits(HttpLimits limits) {
    return new ServerOptions(address, access, limits, stopGrace);
  }

  /** With another grace. */
  public ServerOptions stopGrace(Duration stopGrace) {
    return new ServerOptions(address, access, limits, stopGrace);
  }
}
