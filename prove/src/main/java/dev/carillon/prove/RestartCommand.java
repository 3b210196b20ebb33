package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Crashes the server that several nodes work on. */
@Command(
    name = "restart",
    description =
        "Crashes the PostgreSQL of three nodes under load and starts it again: nothing is lost and"
            + " the nodes go on.")
final class RestartCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new RestartSuite()));
  }
}
