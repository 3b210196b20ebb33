package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A node and its application share a connection pool that the application exhausts. */
@Command(
    name = "pool",
    description = {
      "Shares HikariCP pools with handlers that hold their connections, and with threads that",
      "schedule inside and outside of transactions. Every job must end after one start, no node",
      "may fence itself, heartbeats must be on time, and 99 of 100 calls within 200 ms.",
      ""
    },
    footer = "Exits with 0 if every promise was kept, 1 if one was not, 2 for a wrong option.")
final class PoolCommand implements Callable<Integer> {

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  @Option(
      names = "--pools",
      split = ",",
      paramLabel = "N",
      description = "Sizes of the pool (default: ${DEFAULT-VALUE}).",
      defaultValue = "5,10,30")
  private List<Integer> pools = new ArrayList<>();

  @Option(
      names = "--handlers",
      split = ",",
      paramLabel = "N",
      description = "Jobs whose handlers hold a connection (default: ${DEFAULT-VALUE}).",
      defaultValue = "100,1000")
  private List<Integer> handlers = new ArrayList<>();

  @Option(
      names = "--hold-millis",
      paramLabel = "N",
      description = "How long a handler holds it (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int holdMillis;

  @Option(
      names = "--call-seconds",
      paramLabel = "N",
      description = "How long 16 threads schedule before that (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  private int callSeconds;

  @Option(names = "--short", description = "One pool of 5 and 50 handlers of 200 ms.")
  private boolean shortRun;

  @Override
  public Integer call() throws Exception {
    if (shortRun) {
      pools = List.of(5);
      handlers = List.of(50);
      holdMillis = 200;
      callSeconds = 2;
    }
    Path folder = Files.createTempDirectory("carillon-pool-");
    boolean kept = true;
    System.out.println(PoolTrial.HEADER);
    try (PostgresServer server = PostgresServer.start(folder, "pool")) {
      for (int pool : pools) {
        for (int jobs : handlers) {
          PoolTrial trial =
              new PoolTrial(
                  server.url(),
                  new PoolTrial.Load(
                      pool, jobs, Duration.ofMillis(holdMillis), Duration.ofSeconds(callSeconds)));
          kept &= trial.run();
        }
      }
    }
    System.out.println(kept ? "PASS" : "FAIL");
    if (kept) {
      Folders.remove(folder);
    }
    return kept ? 0 : 1;
  }
}
