package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.ExitCode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Pause, limit and rate of a namespace. */
@Command(
    name = "namespace",
    header = "The namespace of --namespace: pause it, limit it.",
    subcommands = {
      NamespaceCommands.Get.class,
      NamespaceCommands.Pause.class,
      NamespaceCommands.Resume.class,
      NamespaceCommands.Limit.class,
      NamespaceCommands.RateOf.class
    },
    footer = {"", "Example: ./carillon namespace limit 50 --namespace shop"})
public final class NamespaceCommands extends Group {
  /** The group. */
  public NamespaceCommands() {}

  private static Address ofNamespace() {
    return Address.of("flow");
  }

  /** What is in effect. */
  @Command(name = "get", header = "Shows whether the namespace is paused, its limit and its rate.")
  static final class Get extends FlowCommands.Get {
    @Override
    Address flow() {
      return ofNamespace();
    }
  }

  /** Pauses. */
  @Command(
      name = "pause",
      header = "Lets nothing of the namespace start until it is resumed.",
      description = "What runs goes on.")
  static final class Pause extends FlowCommands.Pause {
    @Override
    Address flow() {
      return ofNamespace();
    }
  }

  /** Resumes. */
  @Command(name = "resume", header = "Lets the paused namespace go on.")
  static final class Resume extends FlowCommands.Resume {
    @Override
    Address flow() {
      return ofNamespace();
    }
  }

  /** How many at once. */
  @Command(name = "limit", header = "Lets so many of it run at once, on all nodes together.")
  static final class Limit extends ServerCommand {
    @Parameters(paramLabel = "COUNT", description = "from 1 on, or none")
    private String limit = "";

    @Override
    ExitCode run(ApiClient server) {
      return FlowCommands.limit(server, ofNamespace(), limit, report());
    }
  }

  /** How often. */
  @Command(name = "rate", header = "Lets so many of it start in a time, on all nodes together.")
  static final class RateOf extends ServerCommand {
    @Parameters(
        paramLabel = "RATE",
        description = "so many in a time, such as 100/1s or 5/1h, or none")
    private String rate = "";

    @Mixin private FlowCommands.Burst burst = new FlowCommands.Burst();

    @Override
    ExitCode run(ApiClient server) {
      return FlowCommands.rate(server, ofNamespace(), rate, burst.burst, report());
    }
  }
}
