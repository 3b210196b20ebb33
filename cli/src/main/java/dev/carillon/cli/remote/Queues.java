package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.ExitCode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Pause, limit and rate of queues. */
@Command(
    name = "queues",
    header = "Queues: pause them, limit them. One queue is one over all namespaces.",
    subcommands = {
      Queues.ListAll.class,
      Queues.Get.class,
      Queues.Pause.class,
      Queues.Resume.class,
      Queues.Limit.class,
      Queues.RateOf.class
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon queues pause mail --reason 'the relay is down'",
      "  ./carillon queues limit mail 20",
      "  ./carillon queues rate mail 100/1s --burst 10"
    })
public final class Queues extends Group {
  /** The group. */
  public Queues() {}

  /** Which queue. */
  static final class Queue {
    @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue")
    private String name = "";

    Queue() {}

    Address flow() {
      return Address.root("queues", name);
    }
  }

  /** Those that there are. */
  @Command(
      name = "list",
      header = "Lists the queues that are paused or limited, and those that have work now.",
      description =
          "Exit code 1 where a node gave no answer. In a pipe: queue, paused, running, waiting,"
              + " oldest due, limit, rate, paused by; tabs between.")
  static final class ListAll extends ServerCommand {
    @Override
    ExitCode run(ApiClient server) {
      return FlowCommands.list(server, report());
    }
  }

  /** What is in effect. */
  @Command(name = "get", header = "Shows whether a queue is paused, its limit and its rate.")
  static final class Get extends FlowCommands.Get {
    @Mixin private Queue queue = new Queue();

    @Override
    Address flow() {
      return queue.flow();
    }
  }

  /** Pauses. */
  @Command(
      name = "pause",
      header = "Lets nothing of a queue start until it is resumed.",
      description = "What runs goes on.")
  static final class Pause extends FlowCommands.Pause {
    @Mixin private Queue queue = new Queue();

    @Override
    Address flow() {
      return queue.flow();
    }
  }

  /** Resumes. */
  @Command(name = "resume", header = "Lets a paused queue go on.")
  static final class Resume extends FlowCommands.Resume {
    @Mixin private Queue queue = new Queue();

    @Override
    Address flow() {
      return queue.flow();
    }
  }

  /** How many at once. */
  @Command(name = "limit", header = "Lets so many of a queue run at once, on all nodes together.")
  static final class Limit extends ServerCommand {
    @Mixin private Queue queue = new Queue();

    @Parameters(index = "1", paramLabel = "COUNT", description = "from 1 on, or none")
    private String limit = "";

    @Override
    ExitCode run(ApiClient server) {
      return FlowCommands.limit(server, queue.flow(), limit, report());
    }
  }

  /** How often. */
  @Command(
      name = "rate",
      header = "Lets so many of a queue start in a time, on all nodes together.")
  static final class RateOf extends ServerCommand {
    @Mixin private Queue queue = new Queue();

    @Parameters(
        index = "1",
        paramLabel = "RATE",
        description = "so many in a time, such as 100/1s or 5/1h, or none")
    private String rate = "";

    @Mixin private FlowCommands.Burst burst = new FlowCommands.Burst();

    @Override
    ExitCode run(ApiClient server) {
      return FlowCommands.rate(server, queue.flow(), rate, burst.burst, report());
    }
  }
}
