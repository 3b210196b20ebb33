package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lets nodes come and go. */
@Command(
    name = "scale",
    description =
        "Two nodes join three and two leave again, some of them killed, while recurring jobs run:"
            + " no occurrence is lost, none takes place twice but where a node was killed.")
final class ScaleCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new ScaleSuite()));
  }
}
