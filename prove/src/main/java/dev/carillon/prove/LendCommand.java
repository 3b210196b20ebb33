package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Kills lenders and borrowers of attempts. */
@Command(
    name = "lend",
    description =
        "Kills, in turn, nodes that lend due attempts to others and nodes that borrow them:"
            + " nothing is lost.")
final class LendCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new LendSuite()));
  }
}
