package dev.carillon.cli.client;

import java.net.URI;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The server that the surroundings of a command name: a context, an address, or the file of a
 * running server; see {@link Targets}.
 *
 * @param address its address, without a path
 * @param token who asks; empty without authentication
 * @param trusted what is trusted in the place of Java's certificates; null for those
 */
public record NamedServer(URI address, String token, @Nullable SSLContext trusted) {

  /**
   * Finds it.
   *
   * @param context a name in the file of contexts; empty for whatever is named elsewhere
   */
  public static NamedServer of(Surroundings surroundings, String context) {
    Target target = Targets.find(surroundings, new Targets.Wanted("", context, "", ""));
    if (target == null) {
      throw new CommandFailure(ExitCode.AWAY, "server: none found (expected: one that runs)");
    }
    Path trusted = target.trusted();
    return new NamedServer(
        target.server(), target.token(), trusted != null ? TrustedCertificates.of(trusted) : null);
  }
}
