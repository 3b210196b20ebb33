package dev.carillon.cli.remote;

import dev.carillon.cli.client.CommandFailure;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** The options that say what follows a failed attempt. */
final class RetryFlags {
  @Option(
      names = "--retry",
      paramLabel = "KIND",
      description = "after a failure: exponential, constant, drop (default: the server's)")
  private String kind = "";

  @Option(
      names = "--retry-interval",
      paramLabel = "DURATION",
      description = "how long before the first retry")
  private String interval = "";

  @Option(names = "--retry-cap", paramLabel = "DURATION", description = "how long at most")
  private String cap = "";

  @Option(names = "--retry-max", paramLabel = "COUNT", description = "how many retries at most")
  private @Nullable Integer most;

  /** None. */
  RetryFlags() {}

  /** The policy as the API takes it; empty if no option was given. */
  ObjectNode policy() {
    ObjectNode policy = JobChanges.object();
    RhythmFlags.put(policy, "kind", RhythmFlags.rule(kind));
    RhythmFlags.put(policy, "interval", Durations.api(interval));
    RhythmFlags.put(policy, "cap", Durations.api(cap));
    if (most != null) {
      policy.put("maxRetries", most);
    }
    if (kind.isEmpty() && !policy.isEmpty()) {
      throw CommandFailure.invalid(
          "--retry", "missing", "exponential or constant, with --retry-… beside it");
    }
    return policy;
  }
}
