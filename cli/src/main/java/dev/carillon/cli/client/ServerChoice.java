package dev.carillon.cli.client;

import picocli.CommandLine.Option;

/** The options that say which server, and whose jobs. */
public final class ServerChoice {
  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "the server; or CARILLON_SERVER (its token is in CARILLON_TOKEN)")
  private String server = "";

  @Option(
      names = "--context",
      paramLabel = "NAME",
      description = "a server by name, see context; or CARILLON_CONTEXT")
  private String context = "";

  @Option(
      names = "--store",
      paramLabel = "URL",
      description = {
        "jdbc:sqlite:FILE, whose server stands in FILE.server,",
        "or jdbc:postgresql://HOST/DATABASE; without a server the store is opened"
      })
  private String store = "";

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAME",
      description = "whose jobs; or CARILLON_NAMESPACE (default: the context's, or default)")
  private String namespace = "";

  /** None named. */
  public ServerChoice() {}

  /** Finds the server. */
  public ApiClient connect(Surroundings surroundings) {
    return ApiClient.open(surroundings, new Targets.Wanted(server, context, store, namespace));
  }
}
