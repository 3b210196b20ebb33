package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Kills a process under load in a loop and checks what survived. */
@Command(
    name = "kill",
    description =
        "Kills a process with a Carillon under load with signal 9, again and again, and holds what"
            + " it acknowledged and started against what the store says at the end.")
final class KillCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Option(
      names = "--store",
      paramLabel = "STORE",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private KillSuite.Kind store = KillSuite.Kind.SQLITE;

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new KillSuite(store)));
  }
}
