package dev.carillon.cli;

import dev.carillon.Carillon;
import dev.carillon.server.login.LoginRoutes;
import dev.carillon.server.login.OidcOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How people sign in: the options that say so. */
final class ServeLogin {
  @Option(
      names = "--oidc-issuer",
      paramLabel = "URL",
      description = "the OpenID Connect provider that people sign in with")
  private @Nullable URI issuer;

  @Option(names = "--oidc-client", paramLabel = "ID", description = "what it calls this server")
  private String client = "carillon";

  @Option(
      names = "--oidc-secret-file",
      paramLabel = "FILE",
      description = "holds what proves the server to the provider; none for a public client")
  private @Nullable Path secretFile;

  @Option(
      names = "--oidc-url",
      paramLabel = "URL",
      description = "the server as people see it, such as https://jobs.example")
  private @Nullable String publicUrl;

  @Option(
      names = "--oidc-groups-claim",
      paramLabel = "NAME",
      defaultValue = "groups",
      description = "which claim has a person's groups (default: ${DEFAULT-VALUE})")
  private String claim = "";

  @Option(
      names = "--oidc-group",
      paramLabel = "GROUP:ROLE@NAMESPACES",
      description = "what the members of a group may, several times for several: 'ops:operator'")
  private List<String> groups = new ArrayList<>();

  @Option(
      names = "--oidc-session",
      paramLabel = "TIME",
      defaultValue = "1h",
      description = "how long people stay signed in, at most 24h (default: ${DEFAULT-VALUE})")
  private String session = "";

  void requireNone() {
    if (issuer != null) {
      throw new IllegalArgumentException(
          "oidc-issuer: given without authentication (expected: a token, ./carillon token create)");
    }
  }

  /** The sign-in, or null where there is none. */
  @Nullable LoginRoutes routes(Carillon carillon) {
    if (issuer == null) {
      return null;
    }
    if (publicUrl == null) {
      throw new IllegalArgumentException(
          "oidc-url: missing (expected: the server as people see it)");
    }
    String base =
        publicUrl.endsWith("/") ? publicUrl.substring(0, publicUrl.length() - 1) : publicUrl;
    Duration length = TokenCommand.duration(session);
    OidcOptions options =
        new OidcOptions(
            issuer,
            client,
            secretFile != null ? secretOf(secretFile) : null,
            URI.create(base + OidcOptions.CALLBACK_PATH),
            claim,
            ServeAccess.grants("oidc-group", groups),
            length);
    return LoginRoutes.with(options, carillon.node().sharedRecords(LoginRoutes.area()));
  }

  /** The first line of a file. */
  static String secretOf(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": not read (expected: a file with a secret)", e);
    }
  }
}
