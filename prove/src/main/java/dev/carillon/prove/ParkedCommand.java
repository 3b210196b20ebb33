package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Has many workflows wait in little memory and checks that none of them notices. */
@Command(
    name = "parked",
    description =
        "100,000 workflows of 20 kB wait in a heap of 512 MB, where 1,000 threads are kept: the others"
            + " are given up without their code noticing, and all end once they are signalled."
            + " A round is a thousand workflows.")
final class ParkedCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new ParkedSuite()));
  }
}
