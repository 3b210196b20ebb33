package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Kills and stops workers and their server in a loop. */
@Command(
    name = "workers",
    description =
        "Kills workers and their server with signal 9, lets workers stand still and restarts the"
            + " server, under attempts that last: no job is lost or done twice, and what is leased"
            + " outlives its server.")
final class WorkersCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Option(
      names = "--store",
      paramLabel = "STORE",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private KillSuite.Kind store = KillSuite.Kind.SQLITE;

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new WorkersSuite(store)));
  }
}
