package dev.carillon.bench;

import dev.carillon.api.PayloadCodec;
import dev.carillon.json.JacksonCodec;
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
          "For sqlite and postgres: plain, named, crowded, scattered (default: all, and plain for"
              + " postgres); for memory: json, bytes (default: both).")
  private Set<Scenario> scenarios = EnumSet.noneOf(Scenario.class);

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
          "Jobs on their way at once, async only (default: 1024 for memory, else 16384, since"
              + " commits take milliseconds).")
  private int inFlight;

  @Option(
      names = "--backlog",
      paramLabel = "N",
      description =
          "Producers wait while more jobs are scheduled and have not run, so that what is measured"
              + " can go on for ever (default: 1024 for memory, else 20000).")
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
    if (options.store == RunOptions.Kind.MEMORY) {
      memory(report);
    } else {
      durable(report);
    }
    return report.verdict();
  }

  /** All that the store has by default; on a server, which has one bound, the one that has it. */
  private boolean measures(Scenario scenario) {
    return scenarios.isEmpty()
        ? options.store != RunOptions.Kind.POSTGRES || scenario == Scenario.PLAIN
        : scenarios.contains(scenario);
  }

  private Producers.Crowd crowd() {
    boolean async = mode == Producers.Mode.ASYNC;
    boolean durable = options.store != RunOptions.Kind.MEMORY;
    int threads = producers > 0 ? producers : async ? 2 : 8192;
    int onTheirWay = inFlight != 0 ? inFlight : durable ? 16_384 : 1024;
    int behind = backlog != 0 ? backlog : durable ? 20_000 : 1024;
    return new Producers.Crowd(mode, threads, async ? onTheirWay : threads, behind, slots);
  }

  private void durable(Report report) throws InterruptedException {
    PayloadCodec codec = new JacksonCodec();
    report.setting("codec", codec.name());
    try (StorePlace place = StorePlace.of(options)) {
      report.setting(options.store.word(), place.settings());
      var throughput = new StoreThroughput(options, crowd(), codec, place, report);
      if (measures(Scenario.PLAIN)) {
        throughput.plain();
      }
      if (measures(Scenario.NAMED)) {
        throughput.named();
      }
      if (measures(Scenario.CROWDED)) {
        throughput.crowded(otherNames);
      }
      if (measures(Scenario.SCATTERED)) {
        throughput.scattered();
      }
    }
  }

  private void memory(Report report) {
    var throughput = new MemoryThroughput(options, crowd(), report);
    if (measures(Scenario.JSON)) {
      throughput.json();
    }
    if (measures(Scenario.BYTES)) {
      throughput.bytes();
    }
  }
}
