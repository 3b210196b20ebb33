package dev.carillon.bench;

import dev.carillon.api.JobState;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** What a fresh process finds in a store; run by the others. */
@Command(name = "census", hidden = true, description = "Counts the jobs of a SQLite store.")
final class CensusCommand implements Callable<Integer> {

  @Parameters(paramLabel = "FILE")
  private Path file = Path.of("");

  @Override
  public Integer call() {
    try (SqliteStore store = SqliteStore.open(file)) {
      Map<JobState, Long> counts = Census.of(store);
      long all = counts.values().stream().mapToLong(n -> n).sum();
      System.out.println(Census.ended(counts) + " " + all);
    }
    return 0;
  }

  /** What a fresh process counted. */
  record Counted(long ended, long all) {}

  /** Counts in a fresh process. */
  static Counted inFreshProcess(Path file) {
    String line = FreshJvm.run("census", file.toString()).getLast();
    int space = line.indexOf(' ');
    return new Counted(
        Long.parseLong(line.substring(0, space)), Long.parseLong(line.substring(space + 1)));
  }
}
