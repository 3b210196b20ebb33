package dev.carillon.bench;

import dev.carillon.api.JobState;
import dev.carillon.store.Store;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** What a fresh process finds in a store; run by the others. */
@Command(name = "census", hidden = true, description = "Counts the jobs of a store.")
final class CensusCommand implements Callable<Integer> {

  @Parameters(paramLabel = "ADDRESS")
  private String address = "";

  @Override
  public Integer call() {
    try (Store store = StorePlace.open(address)) {
      Map<JobState, Long> counts = Census.of(store);
      long all = counts.values().stream().mapToLong(n -> n).sum();
      System.out.println(Census.ended(counts) + " " + all);
    }
    return 0;
  }

  /** What a fresh process counted. */
  record Counted(long ended, long all) {}

  /** Counts in a fresh process. */
  static Counted inFreshProcess(String address) {
    String line = FreshJvm.run("census", address).getLast();
    int space = line.indexOf(' ');
    return new Counted(
        Long.parseLong(line.substring(0, space)), Long.parseLong(line.substring(space + 1)));
  }
}
