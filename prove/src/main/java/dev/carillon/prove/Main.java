package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Proofs with real processes. */
@Command(
    name = "carillon prove",
    description =
        "Real processes, killed, stopped and cut off in a loop, and a check of what survived."
            + " Without a suite: all but poison and pool, one after the other.",
    subcommands = {
      KillCommand.class,
      FailoverCommand.class,
      PauseCommand.class,
      LendCommand.class,
      ScaleCommand.class,
      RestartCommand.class,
      RestoreCommand.class,
      PoisonCommand.class,
      PoolCommand.class,
      WorkflowCommand.class,
      ParkedCommand.class,
      ApiCommand.class,
      WorkersCommand.class,
      NodeChild.class,
      PoisonChild.class,
      WorkflowChild.class,
      ParkedChild.class,
      ApiChild.class,
      WorkersChild.class,
      WorkersServerChild.class
    },
    footer = "Exits with 0 if every promise was kept, 1 if one was not, 2 for a wrong option.")
public final class Main implements Callable<Integer> {

  @Mixin private final SuiteOptions options = new SuiteOptions();

  private Main() {}

  /** All suites, in the order in which they run. */
  static List<Suite> suites() {
    return List.of(
        new KillSuite(KillSuite.Kind.SQLITE),
        new KillSuite(KillSuite.Kind.POSTGRES),
        new FailoverSuite(),
        new PauseSuite(),
        new LendSuite(),
        new ScaleSuite(),
        new WorkflowSuite(KillSuite.Kind.SQLITE),
        new WorkflowSuite(KillSuite.Kind.POSTGRES),
        new ParkedSuite(),
        new ApiSuite(KillSuite.Kind.SQLITE),
        new ApiSuite(KillSuite.Kind.POSTGRES),
        new WorkersSuite(KillSuite.Kind.SQLITE),
        new WorkersSuite(KillSuite.Kind.POSTGRES),
        new RestartSuite(),
        new RestoreSuite());
  }

  @Override
  public Integer call() throws Exception {
    return options.run(suites());
  }

  /**
   * Runs a proof and exits with its verdict.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    System.exit(
        new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }
}
