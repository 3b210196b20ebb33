package dev.carillon.bench;

import dev.carillon.Carillon;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How late jobs start. */
@Command(
    name = "latency",
    description = "How late jobs start: one at a time beside an executor, and under load.")
final class LatencyCommand implements Callable<Integer> {
  private static final double P50_BEHIND_MILLIS = 0.3;
  private static final double P99_BEHIND_MILLIS = 1.5;
  private static final double LOADED_P99_MILLIS = 25;
  private static final double NANOS_PER_MILLI = 1e6;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Single jobs, as many for each system (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int samples;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Jobs a second under load (default: ${DEFAULT-VALUE}).",
      defaultValue = "20000")
  private int rate;

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report();
    options.positive("--samples", samples);
    options.positive("--rate", rate);
    report.title("latency");
    report.setting(
        "idle",
        "%d jobs each, due %d–%d ms ahead, one at a time, in turn"
            .formatted(samples, leastAheadMillis(), leastAheadMillis() + 49));
    report.setting("loaded", rate + " jobs/s for " + options.seconds + " s, due 20–200 ms ahead");
    try (StorePlace place = StorePlace.of(options)) {
      report.setting(options.store.word(), place.settings());
      try (Carillon carillon = open(place)) {
        idle(report, carillon);
      }
      try (Carillon carillon = open(place)) {
        loaded(report, carillon);
      }
    }
    return report.verdict();
  }

  /** A commit on a server goes there and back. */
  private int leastAheadMillis() {
    return options.store == RunOptions.Kind.POSTGRES ? 20 : 1;
  }

  private static Carillon open(StorePlace place) {
    return Carillon.open(place.newAddress("latency"));
  }

  private void idle(Report report, Carillon carillon) throws InterruptedException {
    String scenario = "latency, idle";
    SingleStarts starts = new SingleStarts(carillon, 1_000L * leastAheadMillis());
    try {
      report.progress("warming up");
      starts.warmUp();
      starts.run(Math.max(20, samples / 10));
      starts.forget();
      report.progress("single jobs");
      starts.run(samples);
    } finally {
      starts.stop();
    }
    Samples ours = starts.carillon();
    Samples executor = starts.executor();
    for (double percent : new double[] {0, 50, 90, 99, 100}) {
      report.figure(
          figure(scenario, "lateness p" + (int) percent, executor.percentile(percent))
              .by("executor"));
      report.figure(figure(scenario, "lateness p" + (int) percent, ours.percentile(percent)));
    }
    report.figure(
        figure(scenario, "p50 behind the executor", ours.percentile(50) - executor.percentile(50))
            .held(Bound.atMost(P50_BEHIND_MILLIS)));
    report.figure(
        figure(scenario, "p99 behind the executor", ours.percentile(99) - executor.percentile(99))
            .held(Bound.atMost(P99_BEHIND_MILLIS)));
    report.figure(
        figure(scenario, "earliest start after its time", ours.min()).held(Bound.atLeast(0)));
  }

  private void loaded(Report report, Carillon carillon) throws InterruptedException {
    String scenario = "latency, loaded";
    report.progress("%,d jobs/s".formatted(rate));
    PacedStarts starts = new PacedStarts(carillon, rate);
    starts.run(options.warmup, options.seconds);
    Samples lateness = starts.lateness();
    report.figure(Figure.of(scenario, "jobs measured", lateness.size(), "jobs"));
    report.figure(Figure.of(scenario, "rate", starts.perSecond(), "jobs/s"));
    report.figure(figure(scenario, "lateness p50", lateness.percentile(50)));
    Figure p99 = figure(scenario, "lateness p99", lateness.percentile(99));
    boolean bounded = options.store != RunOptions.Kind.POSTGRES; // a server is shared: idle only
    report.figure(bounded ? p99.held(Bound.atMost(LOADED_P99_MILLIS)) : p99);
    report.figure(figure(scenario, "lateness max", lateness.max()));
    report.figure(
        figure(scenario, "earliest start after its time", lateness.min()).held(Bound.atLeast(0)));
    if (bounded) {
      report.fact(scenario, "the rate was kept", starts.perSecond() >= 0.98 * rate);
    }
  }

  private static Figure figure(String scenario, String metric, long nanos) {
    return Figure.of(scenario, metric, nanos / NANOS_PER_MILLI, "ms");
  }
}
