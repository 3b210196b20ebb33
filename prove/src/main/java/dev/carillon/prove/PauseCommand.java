package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lets one of several nodes stand still for longer than others wait for it. */
@Command(
    name = "pause",
    description =
        "Stops the process of one of three nodes for three member timeouts and lets it go on: what"
            + " it writes then has no effect.")
final class PauseCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new PauseSuite()));
  }
}
