package dev.carillon.cli;

import dev.carillon.Carillon;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.access.CertificateProof;
import dev.carillon.server.access.Grant;
import dev.carillon.server.access.Proof;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.http.TlsOptions;
import dev.carillon.server.jobs.Redaction;
import dev.carillon.server.login.LoginRoutes;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Who may ask a server: the options that say so, and what follows from them. */
final class ServeAccess {
  @Option(
      names = "--auth",
      paramLabel = "KIND",
      description = {
        "tokens: clients need one; none: clients of this machine need nothing",
        "(default: tokens, as soon as the store has one)"
      })
  private @Nullable Kind kind;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "the server's certificate and those above it, as PEM; read again when replaced")
  private @Nullable Path certificate;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "its key, PKCS#8 as PEM")
  private @Nullable Path key;

  @Option(
      names = "--tls-keystore",
      paramLabel = "FILE",
      description = "certificate and key as PKCS#12, instead of PEM")
  private @Nullable Path keyStore;

  @Option(
      names = "--tls-password-file",
      paramLabel = "FILE",
      description = "holds the password of the key store")
  private @Nullable Path passwordFile;

  @Option(
      names = "--tls-client-ca",
      paramLabel = "FILE",
      description = "who certifies clients, as PEM; see --client")
  private @Nullable Path clientAuthorities;

  @Option(
      names = "--client",
      paramLabel = "SUBJECT:ROLE@NAMESPACES",
      description = {
        "what the client with a certificate of that subject may, several times for",
        "several: 'CN=ci,O=Shop:submitter@shop,billing'; ROLE alone is for all"
      })
  private List<String> clients = new ArrayList<>();

  @Option(
      names = "--behind-proxy",
      description = "a proxy before the server speaks TLS: other addresses are opened without")
  private boolean behindProxy;

  @Option(
      names = "--redact",
      paramLabel = "FIELD",
      description = "a field of JSON inputs and results that only admins see; several times")
  private List<String> redacted = new ArrayList<>();

  @Mixin private ServeLogin login = new ServeLogin();

  private boolean asks;

  /** How clients prove who they are. */
  enum Kind {
    /** By a token. */
    TOKENS,
    /** Not at all. */
    NONE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The options of a server that lets in as these say.
   *
   * @throws IllegalArgumentException if it would open what nobody guards
   */
  ServerOptions applyTo(ServerOptions options, Carillon carillon, InetSocketAddress address) {
    Tokens tokens = new Tokens(carillon.node().sharedRecords(Tokens.AREA));
    boolean some = tokens.list().stream().anyMatch(token -> token.end() == null);
    if (kind == Kind.TOKENS && !some) {
      throw new IllegalArgumentException(
          "auth: tokens, and there is none (expected: ./carillon token create URL --name root"
              + " --role admin, before)");
    }
    asks = kind == Kind.TOKENS || (kind == null && some);
    if (!asks && !address.getAddress().isLoopbackAddress()) {
      throw new IllegalArgumentException(
          "address: "
              + address.getAddress().getHostAddress()
              + " (expected: a loopback one, until authentication is configured by a token:"
              + " ./carillon token create URL --name root --role admin)");
    }
    ServerOptions full = options.redaction(redaction());
    if (behindProxy) {
      full = full.behindProxy();
    }
    TlsOptions tls = tls();
    if (tls != null) {
      full = full.tls(tls);
    }
    if (!asks) {
      login.requireNone();
      return full.address(address);
    }
    List<Proof> proofs = new ArrayList<>();
    proofs.add(new TokenProof(tokens));
    LoginRoutes routes = login.routes(carillon);
    if (routes != null) {
      full = full.login(routes);
      proofs.add(routes.proof());
    }
    if (!clients.isEmpty()) {
      proofs.add(new CertificateProof(grants("client", clients)));
    }
    // The access before the address: no address is opened that nobody guards.
    return full.access(new ProvenAccess(proofs)).address(address);
  }

  private Redaction redaction() {
    return redacted.isEmpty() ? Redaction.NONE : Redaction.ofFields(Set.copyOf(redacted));
  }

  private @Nullable TlsOptions tls() {
    if (certificate == null && key == null && keyStore == null) {
      if (clientAuthorities != null) {
        throw new IllegalArgumentException("tls-client-ca: given (expected: --tls-cert with it)");
      }
      return null;
    }
    TlsOptions tls;
    if (certificate != null && key != null && keyStore == null) {
      tls = TlsOptions.pem(certificate, key);
    } else if (keyStore != null && certificate == null && key == null) {
      tls =
          TlsOptions.pkcs12(
              keyStore, passwordFile != null ? ServeLogin.secretOf(passwordFile) : "");
    } else {
      throw new IllegalArgumentException(
          "tls: incomplete (expected: --tls-cert with --tls-key, or --tls-keystore)");
    }
    return clientAuthorities != null ? tls.clientAuthorities(clientAuthorities) : tls;
  }

  /** What is written as {@code NAME:ROLE@NAMESPACES}, the name up to the last colon. */
  static Map<String, Grant> grants(String option, List<String> texts) {
    Map<String, Grant> grants = new LinkedHashMap<>();
    for (String text : texts) {
      int colon = text.lastIndexOf(':');
      if (colon < 1) {
        throw new IllegalArgumentException(
            option + ": " + text + " (expected: NAME:ROLE@NAMESPACES, or NAME:ROLE for all)");
      }
      grants.put(text.substring(0, colon), Grant.parse(text.substring(colon + 1)));
    }
    return grants;
  }

  boolean isEncrypted() {
    return certificate != null || keyStore != null;
  }

  /** Who is let in, for people. */
  String words() {
    return asks
        ? "clients need a token (./carillon token)"
        : "no authentication: clients of this machine may do everything";
  }
}
