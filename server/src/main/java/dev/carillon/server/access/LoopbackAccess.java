package dev.carillon.server.access;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The access of a server without authentication: whoever runs a program on this machine may do
 * everything. A page in a browser on this machine may do nothing: requests must be addressed to a
 * loopback name, which a name that was bound to another address (DNS rebinding) is not, and must
 * not come from a page of another site.
 */
public final class LoopbackAccess implements Access {
  private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "::1");
  private static final Caller EVERYBODY = new Everybody();

  /** An access without state. */
  public LoopbackAccess() {}

  @Override
  public Caller identify(Arrival arrival) {
    if (!arrival.address().isLoopbackAddress()) {
      throw Denied.forbidden(
          "address: not a loopback one (expected: a client of the server's machine, or a server"
              + " with authentication)");
    }
    if (!isLoopback(arrival.host())) {
      throw Denied.forbidden("Host: not a loopback name (expected: localhost, 127.0.0.1 or [::1])");
    }
    String origin = arrival.header("origin");
    if (origin != null && !isLoopbackOrigin(origin)) {
      throw Denied.forbidden("Origin: another site (expected: none, or a loopback one)");
    }
    return EVERYBODY;
  }

  @Override
  public boolean authenticates() {
    return false;
  }

  private static boolean isLoopback(@Nullable String host) {
    return host != null
        && (NAMES.contains(host) || host.toLowerCase(Locale.ROOT).endsWith(".localhost"));
  }

  private static boolean isLoopbackOrigin(String origin) {
    try {
      return isLoopback(new URI(origin).getHost());
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static final class Everybody implements Caller {
    @Override
    public String name() {
      return "local";
    }

    @Override
    public boolean has(Role role, @Nullable String namespace) {
      return true;
    }

    @Override
    public boolean mayUse(@Nullable String namespace, String queue) {
      return true;
    }
  }
}
