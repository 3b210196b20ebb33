package dev.carillon.server.access;

import java.net.InetAddress;
import java.util.Map;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a request before its body is read.
 *
 * @param address where it came from
 * @param encrypted whether it came over TLS
 * @param reads whether its method changes nothing
 * @param host the host that it was sent to, without the port, in lower case; empty if it names none
 * @param subject whom the client's certificate is for, its chain checked; null where there is none
 * @param headers the first value of each header, by its name in lower case
 */
public record Arrival(
    InetAddress address,
    boolean encrypted,
    boolean reads,
    String host,
    @Nullable X500Principal subject,
    Map<String, String> headers) {

  /**
   * A header.
   *
   * @param name its name in lower case
   * @return its first value, or null
   */
  public @Nullable String header(String name) {
    return headers.get(name);
  }
}
