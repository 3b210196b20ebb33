package dev.carillon.cli;

import dev.carillon.api.InvalidArgumentException;
import java.io.PrintWriter;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line. Exit codes: 0 done, 1 failed, 2 wrong usage. */
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
      Export.class,
      Query.class,
      History.class,
      Cluster.class,
      HelpCommand.class
    },
    footer = {
      "",
      "From a checkout ./carillon also knows: simulate, prove, bench, tck (each with --help).",
      "Exit codes: 0 done, 1 failed, 2 wrong usage."
    })
public final class Main implements Runnable {

  /** A pool tells of its start and its end, which says nothing to whoever runs a command. */
  private static final Logger POOL_LOG = Logger.getLogger("com.zaxxer.hikari");

  /** Nor does a node that a command opens, unless something goes wrong. */
  static final Logger NODE_LOG = Logger.getLogger("dev.carillon");

  @Spec private CommandSpec spec;

  private Main() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  /**
   * Runs a command and ends the process.
   *
   * @param args the command and its arguments
   */
  public static void main(String[] args) {
    POOL_LOG.setLevel(Level.WARNING);
    NODE_LOG.setLevel(Level.WARNING);
    System.exit(commandLine().execute(args));
  }

  /** The parser with every command; tests run it in their own process. */
  static CommandLine commandLine() {
    CommandLine commandLine = new CommandLine(new Main());
    commandLine.setExecutionExceptionHandler(Main::failed);
    commandLine.setParameterExceptionHandler(Main::misused);
    commandLine.setUsageHelpAutoWidth(true);
    return commandLine;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  private static int failed(Exception e, CommandLine commandLine, CommandLine.ParseResult parsed) {
    PrintWriter err = commandLine.getErr();
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
      commandLine.usage(err);
    }
    err.flush();
    return CommandLine.ExitCode.USAGE;
  }
}
