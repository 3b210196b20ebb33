package dev.carillon.cli.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/** The address of a server as people write it. */
public final class ServerAddress {
  private ServerAddress() {}

  /** An address; a host alone is taken as one of HTTPS, a loopback one as one of HTTP. */
  public static URI of(String name, String text) {
    String whole = text.contains("://") ? text : (isLoopback(text) ? "http://" : "https://") + text;
    try {
      URI address = new URI(whole);
      boolean web = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
      if (web && address.getHost() != null && address.getUserInfo() == null) {
        String path = address.getRawPath() == null ? "" : address.getRawPath();
        return new URI(
            address.getScheme(),
            null,
            address.getHost(),
            address.getPort(),
            path.endsWith("/") ? path.substring(0, path.length() - 1) : path,
            null,
            null);
      }
    } catch (URISyntaxException e) {
      // said below
    }
    throw CommandFailure.invalid(name, text, "an address such as https://jobs.example.com:8470");
  }

  private static boolean isLoopback(String text) {
    String host = text.toLowerCase(Locale.ROOT).replaceAll("(:\\d+)?(/.*)?$", "");
    return host.equals("localhost") || host.startsWith("127.") || host.equals("[::1]");
  }

  /** Whether what is sent there never leaves this machine. */
  static boolean staysHere(URI address) {
    return isLoopback(address.getHost());
  }

  /**
   * Refuses to show a token to a server that others can listen to.
   *
   * @param server its address
   * @param shown what names it for people
   */
  public static void requirePrivate(URI server, String shown) {
    if ("http".equals(server.getScheme()) && !staysHere(server)) {
      throw new CommandFailure(
          ExitCode.USAGE,
          "server: %s, with a token (expected: https, where nobody reads it on the way)"
              .formatted(shown));
    }
  }
}
