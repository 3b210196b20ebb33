package dev.carillon.bench;

import dev.carillon.Spread;
import dev.carillon.api.JobMeter;
import dev.carillon.api.Metrics;
import dev.carillon.json.JacksonCodec;
import dev.carillon.store.MemoryStore;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * What the histograms of lateness and duration cost a job. A node always has them, so the measured
 * rounds keep both a second time; the difference is the cost of one pair.
 */
@Command(
    name = "histograms",
    description = "What a node's histograms cost, by keeping them twice in every other round.")
final class HistogramsCommand implements Callable<Integer> {
  private static final String SCENARIO = "histograms";
  private static final double MOST_PERCENT = 3;
  private static final int IN_FLIGHT = 1_024;

  @Mixin private RunOptions options = new RunOptions();

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report("memory");
    report.title(SCENARIO);
    report.setting("payload bytes", Order.bytes());
    report.setting("window", options.seconds + " s after " + options.warmup + " s");
    Rounds once = new Rounds();
    Rounds twice = new Rounds();
    Rounds costs = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      double with = cpuMicros(null);
      double more = cpuMicros(new Twice());
      report.progress("round %d: %.3f µs, twice %.3f µs a job".formatted(round, with, more));
      once.add(with);
      twice.add(more);
      costs.add(100 * (more - with) / with);
    }
    report.figure(Figure.of(SCENARIO, "CPU a job", once.median(), "µs"));
    report.figure(Figure.of(SCENARIO, "CPU a job, histograms twice", twice.median(), "µs"));
    report.figure(
        Figure.of(SCENARIO, "cost of the histograms", Math.max(0, costs.median()), "%")
            .held(Bound.atMost(MOST_PERCENT)));
    return report.verdict();
  }

  private double cpuMicros(@Nullable Metrics metrics) throws InterruptedException {
    ThroughputRound round =
        ThroughputRound.noOp(
            StoreThroughput.ORDER,
            new JacksonCodec(),
            number -> StoreThroughput.ORDER.job(Order.of(number)));
    if (metrics != null) {
      round.metrics(metrics);
    }
    var crowd = new Producers.Crowd(Producers.Mode.ASYNC, 2, IN_FLIGHT, IN_FLIGHT, IN_FLIGHT);
    return round.run(new MemoryStore(), crowd, options, carillon -> {}).cpuMicrosPerJob();
  }

  /** The same as a node keeps. */
  private static final class Twice implements Metrics {
    @Override
    public void count(String name, long delta) {}

    @Override
    public void time(String name, long nanos) {}

    @Override
    public void gauge(String name, long value) {}

    @Override
    public JobMeter jobs(String type, String queue, String namespace) {
      return new Pair();
    }
  }

  private static final class Pair implements JobMeter {
    private static final long[] BOUNDS =
        Spread.bounds().stream().mapToLong(Long::longValue).toArray();

    private final AtomicLongArray lateness = new AtomicLongArray(BOUNDS.length + 2);
    private final AtomicLongArray duration = new AtomicLongArray(BOUNDS.length + 2);

    @Override
    public void started(long latenessNanos) {
      add(lateness, latenessNanos);
    }

    @Override
    public void returned(long nanos) {
      add(duration, nanos);
    }

    @Override
    public void failed() {}

    @Override
    public void died() {}

    private static void add(AtomicLongArray cells, long nanos) {
      int found = Arrays.binarySearch(BOUNDS, nanos);
      plus(cells, found >= 0 ? found : -found - 1, 1);
      plus(cells, BOUNDS.length + 1, nanos);
    }

    private static void plus(AtomicLongArray cells, int cell, long value) {
      cells.setOpaque(cell, cells.getPlain(cell) + value);
    }
  }
}
