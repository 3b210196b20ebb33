package dev.carillon.server.login;

import dev.carillon.server.access.Grant;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The provider that people sign in with. Immutable.
 *
 * @param issuer the provider, by the address under which it describes itself
 * @param clientId what the provider calls this server
 * @param clientSecret what proves it to the provider; null for a public client
 * @param callback the address that the provider sends people back to: that of the server as people
 *     see it, with the path {@value #CALLBACK_PATH}
 * @param groupsClaim which claim of the ID token has the groups
 * @param groups what the members of each group may
 * @param session how long people stay signed in
 */
public record OidcOptions(
    URI issuer,
    String clientId,
    @Nullable String clientSecret,
    URI callback,
    String groupsClaim,
    Map<String, Grant> groups,
    Duration session) {
  /** The path of the callback. */
  public static final String CALLBACK_PATH = "/v1/login/callback";

  private static final Duration LONGEST = Duration.ofHours(24);

  /**
   * Refuses what cannot work.
   *
   * @throws IllegalArgumentException if the callback has another path, there are no groups, or a
   *     session has no length or a long one
   */
  public OidcOptions {
    groups = Map.copyOf(groups);
    if (!CALLBACK_PATH.equals(callback.getPath()) || callback.getHost() == null) {
      throw new IllegalArgumentException(
          "callback: " + callback + " (expected: https://HOST" + CALLBACK_PATH + ")");
    }
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("groups: none (expected: one that has a role)");
    }
    if (session.compareTo(Duration.ofMinutes(1)) < 0 || session.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "session: " + session + " (expected: a minute to " + LONGEST + ")");
    }
  }

  /** The origin of the server's pages, as browsers write it. */
  String origin() {
    int port = callback.getPort();
    return callback.getScheme() + "://" + callback.getHost() + (port < 0 ? "" : ":" + port);
  }

  /** Whether people see the server by TLS. */
  boolean isSecure() {
    return "https".equals(callback.getScheme());
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "OidcOptions[" + issuer + ", " + clientId + "]";
  }
}
