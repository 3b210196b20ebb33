package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Kills a server under requests in a loop and checks what its clients were told. */
@Command(
    name = "api",
    description =
        "Kills a server with signal 9 while clients schedule, cancel and look over HTTP, again and"
            + " again: nothing acknowledged is lost, nothing is there twice under a key.")
final class ApiCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Option(
      names = "--store",
      paramLabel = "STORE",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private KillSuite.Kind store = KillSuite.Kind.SQLITE;

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new ApiSuite(store)));
  }
}
