package dev.carillon.prove;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Proofs with real processes. */
@Command(
    name = "carillon prove",
    description = "Real processes, killed in a loop, and a check of what survived.",
    subcommands = {KillCommand.class, KillChild.class, PoisonCommand.class, PoisonChild.class},
    footer = "Exits with 0 if every promise was kept, 1 if one was not, 2 for a wrong option.")
public final class Main {

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  private Main() {}

  /**
   * Runs a proof and exits with its verdict.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }
}
