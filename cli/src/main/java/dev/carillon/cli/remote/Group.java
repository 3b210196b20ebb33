package dev.carillon.cli.remote;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A word that only groups commands. */
@Command(synopsisSubcommandLabel = "COMMAND")
abstract class Group implements Runnable {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this text")
  @SuppressWarnings("unused") // the parser acts on it
  private boolean help;

  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    if (spec == null) {
      throw new IllegalStateException("the parser has not set the command up");
    }
    throw new ParameterException(
        spec.commandLine(),
        "a command is missing (expected: one of "
            + String.join(", ", spec.subcommands().keySet())
            + ")");
  }
}
