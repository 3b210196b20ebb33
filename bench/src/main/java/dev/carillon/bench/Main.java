package dev.carillon.bench;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures Carillon through its public API and holds the figures against their bounds. */
@Command(
    name = "carillon bench",
    description =
        "Throughput, workflows, the API of a server, its dashboard, histograms, latency, memory, history, fairness, groups, lending, churn, deploys and cron,"
            + " each against its bound; and all of them against another build.",
    subcommands = {
      ThroughputCommand.class,
      WorkflowCommand.class,
      ApiCommand.class,
      RemoteCommand.class,
      ApiServerCommand.class,
      RemoteWorkerCommand.class,
      DashboardCommand.class,
      HistogramsCommand.class,
      CompareCommand.class,
      LendingCommand.class,
      ChurnCommand.class,
      DeploysCommand.class,
      LatencyCommand.class,
      PendingCommand.class,
      HistoryCommand.class,
      TenantsCommand.class,
      BacklogCommand.class,
      CensusCommand.class,
      MemoryRoundCommand.class,
      RestartCommand.class,
      CronCommand.class,
      GroupCommand.class,
      AgainstCommand.class
    },
    footer = "Exits with 0 if all bounds hold, 1 if one does not, 2 for a wrong option.")
public final class Main {

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  /** Held here, or their level would be forgotten: what they say is not what is measured. */
  private static final List<Logger> QUIET =
      Stream.of("com.zaxxer.hikari", "io.zonky.test", "com.github.kagkarlsson")
          .map(Logger::getLogger)
          .toList();

  private static final Logger NODES = Logger.getLogger("dev.carillon");

  private Main() {}

  /**
   * Runs a benchmark and exits with its verdict.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    QUIET.forEach(logger -> logger.setLevel(Level.SEVERE));
    NODES.setLevel(Level.WARNING);
    System.exit(run(args));
  }

  /** Runs a benchmark and returns its exit code. */
  static int run(String... args) {
    return new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true).execute(args);
  }
}
