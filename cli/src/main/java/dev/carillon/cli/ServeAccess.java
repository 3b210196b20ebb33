package dev.carillon.cli;

import dev.carillon.Carillon;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
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
    // The access before the address: no address is opened that nobody guards.
    return asks
        ? options.access(new ProvenAccess(List.of(new TokenProof(tokens)))).address(address)
        : options.address(address);
  }

  /** Who is let in, for people. */
  String words() {
    return asks
        ? "clients need a token (./carillon token)"
        : "no authentication: clients of this machine may do everything";
  }
}
