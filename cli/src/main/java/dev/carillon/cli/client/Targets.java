package dev.carillon.cli.client;

import dev.carillon.cli.client.ContextFile.Context;
import dev.carillon.cli.client.ContextFile.Contexts;
import java.net.URI;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the server of a command. The first of these that names one decides:
 *
 * <ol>
 *   <li>{@code --server}, {@code --store} or {@code --context};
 *   <li>CARILLON_SERVER or CARILLON_CONTEXT;
 *   <li>the server that holds {@code carillon.db} in the current folder;
 *   <li>the current context of the file of contexts.
 * </ol>
 *
 * The token is that of CARILLON_TOKEN, else that of the context.
 */
final class Targets {
  private static final String LOCAL = "carillon.db";
  private static final String NAMESPACE = "default";

  private final Surroundings surroundings;
  private final Wanted wanted;

  /**
   * What the command names; empty for nothing.
   *
   * @param server an address
   * @param context a name in the file of contexts
   * @param store the address of a store
   * @param namespace whose jobs
   */
  record Wanted(String server, String context, String store, String namespace) {
    /** Refuses two of them. */
    Wanted {
      long named = Stream.of(server, context, store).filter(s -> !s.isEmpty()).count();
      if (named > 1) {
        throw new CommandFailure(
            ExitCode.USAGE, "--server, --context and --store: two of them (expected: one)");
      }
    }
  }

  private Targets(Surroundings surroundings, Wanted wanted) {
    this.surroundings = surroundings;
    this.wanted = wanted;
  }

  /** Finds it; null if there is none but a store to be opened. */
  static @Nullable Target find(Surroundings surroundings, Wanted wanted) {
    return new Targets(surroundings, wanted).find();
  }

  private @Nullable Target find() {
    if (!wanted.server().isEmpty()) {
      return plain(ServerAddress.of("--server", wanted.server()), "--server");
    }
    if (!wanted.context().isEmpty()) {
      return ofContext(wanted.context());
    }
    if (!wanted.store().isEmpty()) {
      ServerFile file = ServerFile.of(wanted.store());
      return file == null ? null : ofFile(file);
    }
    if (!surroundings.variable("CARILLON_SERVER").isEmpty()) {
      return plain(
          ServerAddress.of("CARILLON_SERVER", surroundings.variable("CARILLON_SERVER")),
          "CARILLON_SERVER");
    }
    if (!surroundings.variable("CARILLON_CONTEXT").isEmpty()) {
      return ofContext(surroundings.variable("CARILLON_CONTEXT"));
    }
    ServerFile local = ServerFile.beside(surroundings.folder().resolve(LOCAL));
    if (local.exists()) {
      return ofFile(local);
    }
    String current = ContextFile.of(surroundings).read().current();
    if (current != null) {
      return ofContext(current);
    }
    throw new CommandFailure(
        ExitCode.AWAY,
        "server: none found (expected: --server URL, --context NAME, --store URL, or a running"
            + " ./carillon serve in this folder)");
  }

  private @Nullable Target ofFile(ServerFile file) {
    URI address = file.read();
    return address == null ? null : plain(address, file.path().toString());
  }

  private Target plain(URI address, String origin) {
    return new Target(
        address, namespace(null), surroundings.variable("CARILLON_TOKEN"), trusted(null), origin);
  }

  private Target ofContext(String name) {
    Contexts contexts = ContextFile.of(surroundings).read();
    Context context = contexts.get(name);
    String token = surroundings.variable("CARILLON_TOKEN");
    return new Target(
        ServerAddress.of("context " + name, context.server()),
        namespace(context.namespace()),
        !token.isEmpty() || context.token() == null ? token : context.token(),
        trusted(context.trusted()),
        "context " + name);
  }

  private String namespace(@Nullable String ofContext) {
    if (!wanted.namespace().isEmpty()) {
      return wanted.namespace();
    }
    String variable = surroundings.variable("CARILLON_NAMESPACE");
    return !variable.isEmpty() ? variable : ofContext == null ? NAMESPACE : ofContext;
  }

  private @Nullable Path trusted(@Nullable String ofContext) {
    String variable = surroundings.variable("CARILLON_TRUSTED");
    String named = variable.isEmpty() ? ofContext : variable;
    return named == null ? null : surroundings.folder().resolve(named);
  }
}
