package dev.carillon.bench;

import dev.carillon.api.PayloadCodec;
import dev.carillon.json.JacksonCodec;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Workflows a second beside plain jobs, one alone beside its commits, a long one, and replay. */
@Command(
    name = "workflow",
    description =
        "Workflows of five durable steps beside plain jobs; one alone; one of 2,000 steps; replay.")
final class WorkflowCommand implements Callable<Integer> {
  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--scenario",
      split = ",",
      paramLabel = "NAME",
      description = "rate, alone, long, replay (default: all).")
  private Set<Scenario> scenarios = EnumSet.allOf(Scenario.class);

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description = "Jobs that are being scheduled at once (default: ${DEFAULT-VALUE}).",
      defaultValue = "16384")
  private int inFlight;

  @Option(
      names = "--backlog",
      paramLabel = "N",
      description =
          "Producers wait while more jobs are scheduled and have not run"
              + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "20000")
  private int backlog;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Workflows of the scenario alone (default: ${DEFAULT-VALUE}).",
      defaultValue = "500")
  private int samples;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description = "Steps of the long workflow (default: ${DEFAULT-VALUE}).",
      defaultValue = "2000")
  private int steps;

  /** What can be measured. */
  enum Scenario {
    /** Workflows beside plain jobs, in turn. */
    RATE,
    /** One at a time. */
    ALONE,
    /** One with many steps. */
    LONG,
    /** Histories that are read and run through. */
    REPLAY
  }

  @Override
  public Integer call() throws InterruptedException {
    options.knows(RunOptions.Kind.SQLITE, RunOptions.Kind.POSTGRES);
    options.positive("--samples", samples);
    options.positive("--steps", steps / (2 * LongWorkflow.PART));
    var crowd = new Producers.Crowd(Producers.Mode.ASYNC, 2, inFlight, backlog, 1024);
    crowd.check(options);
    PayloadCodec codec = new JacksonCodec();
    Report report = options.report();
    report.title("workflow");
    report.setting("payload bytes", Order.bytes());
    report.setting("steps", WorkflowRate.STEPS + " no-op ones, each durable before the next");
    report.setting("plain jobs", "a no-op handler");
    report.setting("slots", crowd.slots());
    report.setting("producers", crowd.text());
    report.setting("backlog", "at most " + crowd.backlog());
    report.setting("codec", codec.name());
    report.setting("window", options.seconds + " s after " + options.warmup + " s");
    try (StorePlace place = StorePlace.of(options)) {
      report.setting(options.store.word(), place.settings());
      if (scenarios.contains(Scenario.RATE)) {
        new WorkflowRate(options, crowd, codec, place, report).run();
      }
      if (scenarios.contains(Scenario.ALONE)) {
        new LoneWorkflows(place, report).run(samples);
      }
      if (scenarios.contains(Scenario.LONG)) {
        new LongWorkflow(place, report, steps).run(options.rounds);
      }
      if (scenarios.contains(Scenario.REPLAY)) {
        new ReplayRate(place, report).run(options.rounds);
      }
    }
    return report.verdict();
  }
}
