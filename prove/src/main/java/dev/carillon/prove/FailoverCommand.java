package dev.carillon.prove;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Kills one of several nodes and measures how soon its jobs start elsewhere. */
@Command(
    name = "failover",
    description =
        "Kills the owner of many shards among three nodes on one PostgreSQL, and measures how soon"
            + " the others start its jobs; stops one in order, too.")
final class FailoverCommand implements Callable<Integer> {
  @Mixin private final SuiteOptions options = new SuiteOptions();

  @Override
  public Integer call() throws Exception {
    return options.run(List.of(new FailoverSuite()));
  }
}
