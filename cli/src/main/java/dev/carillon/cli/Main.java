package dev.carillon.cli;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.client.Surroundings;
import dev.carillon.cli.remote.BulkCommands;
import dev.carillon.cli.remote.ClusterCommands;
import dev.carillon.cli.remote.Completion;
import dev.carillon.cli.remote.ContextCommands;
import dev.carillon.cli.remote.DeadLetters;
import dev.carillon.cli.remote.Jobs;
import dev.carillon.cli.remote.NamespaceCommands;
import dev.carillon.cli.remote.OnStore;
import dev.carillon.cli.remote.Queues;
import dev.carillon.cli.remote.ScheduleJob;
import dev.carillon.cli.remote.Schedules;
import dev.carillon.cli.remote.Top;
import dev.carillon.cli.remote.WorkerCommands;
import dev.carillon.cli.remote.Workflows;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line. How a command ends: {@link ExitCode}. */
@Command(
    name = "carillon",
    description = "A durable job scheduler.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      Demo.class,
      Serve.class,
      TokenCommand.class,
      ScheduleJob.class,
      Jobs.class,
      Schedules.class,
      Workflows.class,
      DeadLetters.class,
      BulkCommands.class,
      Queues.class,
      NamespaceCommands.class,
      WorkerCommands.class,
      ContextCommands.class,
      Top.class,
      Completion.class,
      Export.class,
      Query.class,
      History.class,
      ClusterCommands.class,
      HelpCommand.class
    },
    footer = {
      "",
      "From a checkout ./carillon also knows: simulate, prove, bench, tck (each with --help).",
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 does not fit, 5 denied,",
      "6 away, 7 unknown, 8 not ended yet, 9 the job failed; docs/guides/command-line.md."
    })
public final class Main implements Runnable, Surroundings.Holder, OnStore {

  /** A pool tells of its start and its end, which says nothing to whoever runs a command. */
  private static final Logger POOL_LOG = Logger.getLogger("com.zaxxer.hikari");

  /** A worker that dies while something is written to it is no news; the gateway says that. */
  private static final Logger STREAM_LOG = Logger.getLogger("io.grpc");

  /** Nor does a node that a command opens, unless something goes wrong. */
  static final Logger NODE_LOG = Logger.getLogger("dev.carillon");

  private final Surroundings surroundings;

  @Spec private CommandSpec spec;

  private Main(Surroundings surroundings) {
    this.surroundings = surroundings;
    spec = CommandSpec.create(); // replaced by the parser
  }

  /**
   * Runs a command and ends the process.
   *
   * @param args the command and its arguments
   */
  public static void main(String[] args) {
    POOL_LOG.setLevel(Level.WARNING);
    STREAM_LOG.setLevel(Level.SEVERE);
    NODE_LOG.setLevel(Level.WARNING);
    System.exit(commandLine(Surroundings.ofProcess()).execute(args));
  }

  /** The parser with every command; tests run it in their own process. */
  static CommandLine commandLine() {
    return commandLine(Surroundings.ofProcess());
  }

  /** The same in other surroundings. */
  static CommandLine commandLine(Surroundings surroundings) {
    CommandLine commandLine = new CommandLine(new Main(surroundings));
    Objects.requireNonNull(commandLine.getSubcommands().get("cluster"))
        .addSubcommand(new ClusterUpgrade());
    return withHandlers(commandLine);
  }

  private static CommandLine withHandlers(CommandLine commandLine) {
    commandLine.setExecutionExceptionHandler(Main::failed);
    commandLine.setParameterExceptionHandler(Main::misused);
    commandLine.setUsageHelpAutoWidth(true);
    return commandLine;
  }

  @Override
  public Surroundings surroundings() {
    return surroundings;
  }

  @Override
  public int cluster(List<String> arguments, PrintWriter out, PrintWriter err) {
    CommandLine onStore = withHandlers(new CommandLine(new Cluster()));
    onStore.setOut(out);
    onStore.setErr(err);
    return onStore.execute(arguments.toArray(String[]::new));
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  private static int failed(Exception e, CommandLine commandLine, CommandLine.ParseResult parsed) {
    PrintWriter err = commandLine.getErr();
    if (e instanceof CommandFailure failure) {
      // The others say all that there is to know.
      boolean odd = failure.exitCode() == ExitCode.FAILED;
      err.println("carillon: " + (odd ? Problem.text(e) : e.getMessage()));
      err.flush();
      return failure.exitCode().code();
    }
    err.println("carillon: " + Problem.text(e));
    if (commandLine.getCommand() instanceof StoreCommand command && command.isDebug()) {
      e.printStackTrace(err);
    } else if (commandLine.getCommand() instanceof StoreCommand) {
      err.println("(--debug shows where)");
    }
    err.flush();
    return e instanceof IllegalArgumentException || e instanceof InvalidArgumentException
        ? CommandLine.ExitCode.USAGE
        : CommandLine.ExitCode.SOFTWARE;
  }

  private static int misused(ParameterException e, String[] args) {
    CommandLine commandLine = e.getCommandLine();
    PrintWriter err = commandLine.getErr();
    err.println("carillon: " + e.getMessage());
    if (!CommandLine.UnmatchedArgumentException.printSuggestions(e, err)) {
      err.print(commandLine.getHelp().synopsisHeading());
      err.print(commandLine.getHelp().synopsis(commandLine.getHelp().synopsisHeadingLength()));
      err.println("(--help says more)");
    }
    err.flush();
    return CommandLine.ExitCode.USAGE;
  }
}
