package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Puts the server of several nodes back to an older copy of its data. */
@Command(
    name = "restore",
    description =
        "Puts an older copy of its data under the PostgreSQL of three nodes: each notices and says"
            + " so, and no shard has two owners.")
final class RestoreCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new RestoreSuite()));
  }
}
