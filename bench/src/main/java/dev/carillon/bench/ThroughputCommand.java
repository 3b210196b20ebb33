package dev.carillon.bench;

import dev.carillon.JacksonCodec;
import dev.carillon.api.PayloadCodec;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Jobs a second: scheduled, run and ended, all of it durable. */
@Command(
    name = "throughput",
    description = "Jobs a second, each durable when scheduled and when ended.")
final class ThroughputCommand implements Callable<Integer> {

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--scenario",
      split = ",",
      paramLabel = "NAME",
      description =
          "For sqlite: plain, named, crowded, scattered; for memory: json, bytes (default: all).")
  private Set<Scenario> scenarios = EnumSet.allOf(Scenario.class);

  @Option(
      names = "--mode",
      description =
          "async: scheduleAsync(), a bounded number on their way; blocking: schedule() on many"
              + " virtual threads (default: ${DEFAULT-VALUE}).",
      defaultValue = "async")
  private Producers.Mode mode = Producers.Mode.ASYNC;

  @Option(
      names = "--producers",
      paramLabel = "N",
      description = "Threads that schedule (default: 2 for async, 8192 for blocking).")
  private int producers;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description =
          "Jobs on their way at once, async only (default: 16384 for sqlite, whose commits take"
              + " milliseconds, 1024 for memory).")
  private int inFlight;

  @Option(
      names = "--backlog",
      paramLabel = "N",
      description =
          "Producers wait while more jobs are scheduled and have not run, so that what is measured"
              + " can go on for ever (default: 20000 for sqlite, 1024 for memory).")
  private int backlog;

  @Option(
      names = "--slots",
      paramLabel = "N",
      description = "Attempts that may run at once (default: ${DEFAULT-VALUE}).",
      defaultValue = "1024")
  private int slots;

  @Option(
      names = "--other-names",
      paramLabel = "N",
      description = "Names held by jobs that are not due, in CROWDED (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private int otherNames;

  /** What can be measured. */
  enum Scenario {
    /** Jobs without a name, due now, beside the raw rate of the file. */
    PLAIN,
    /** Random names, due now. */
    NAMED,
    /** The same with many other names live. */
    CROWDED,
    /** Due over 30 days: the rate of scheduling. */
    SCATTERED,
    /** In memory, JSON. */
    JSON,
    /** In memory, bytes. */
    BYTES
  }

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report();
    crowd().check(options);
    report.title("throughput");
    report.setting("payload bytes", Order.bytes());
    report.setting("handler", "no-op, " + slots + " slots");
    report.setting("producers", crowd().text());
    report.setting("backlog", "at most " + crowd().backlog());
    report.setting("history", "default");
    report.setting("window", options.seconds + " s after " + options.warmup + " s");
    if (options.store == RunOptions.Kind.SQLITE) {
      sqlite(report);
    } else {
      memory(report);
    }
    return report.verdict();
  }

  private Producers.Crowd crowd() {
    boolean async = mode == Producers.Mode.ASYNC;
    boolean durable = options.store == RunOptions.Kind.SQLITE;
    int threads = producers > 0 ? producers : async ? 2 : 8192;
    int onTheirWay = inFlight != 0 ? inFlight : durable ? 16_384 : 1024;
    int behind = backlog != 0 ? backlog : durable ? 20_000 : 1024;
    return new Producers.Crowd(mode, threads, async ? onTheirWay : threads, behind, slots);
  }

  private void sqlite(Report report) throws InterruptedException {
    PayloadCodec codec = new JacksonCodec();
    report.setting("codec", codec.name());
    report.setting("sqlite", SqliteSettings.text());
    try (Workspace workspace = Workspace.in(options.dir)) {
      var throughput = new SqliteThroughput(options, crowd(), codec, workspace, report);
      if (scenarios.contains(Scenario.PLAIN)) {
        throughput.plain();
      }
      if (scenarios.contains(Scenario.NAMED)) {
        throughput.named();
      }
      if (scenarios.contains(Scenario.CROWDED)) {
        throughput.crowded(otherNames);
      }
      if (scenarios.contains(Scenario.SCATTERED)) {
        throughput.scattered();
      }
    }
  }

  private void memory(Report report) {
    var throughput = new MemoryThroughput(options, crowd(), report);
    if (scenarios.contains(Scenario.JSON)) {
      throughput.json();
    }
    if (scenarios.contains(Scenario.BYTES)) {
      throughput.bytes();
    }
  }
}
