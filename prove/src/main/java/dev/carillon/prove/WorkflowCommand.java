package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Kills a process that runs workflows in a loop and checks what they saw. */
@Command(
    name = "workflow",
    description =
        "Kills a process that runs workflows with signal 9, again and again: no recorded step runs"
            + " again, and every workflow ends as its code says.")
final class WorkflowCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Option(
      names = "--store",
      paramLabel = "STORE",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private KillSuite.Kind store = KillSuite.Kind.SQLITE;

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new WorkflowSuite(store)));
  }
}
