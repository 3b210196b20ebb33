package dev.carillon.bench;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A great many overdue jobs beside those that become due. */
@Command(
    name = "backlog",
    description = "A great many overdue jobs: how late newly due ones start beside them.")
final class BacklogCommand implements Callable<Integer> {
  private static final double NEW_P99_MILLIS = 250;
  private static final double MEBIBYTE = 1 << 20;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double HEAP_BASE_MIB = 96;
  private static final double HEAP_BYTES_A_JOB = 200;
  private static final double HEAP_GROWTH_MIB = 4;
  private static final int FIRST_SLOTS = 64;
  private static final int SHORT_JOBS = 50_000;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Overdue jobs (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private int jobs;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Newly due jobs a second (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int rate;

  @Option(
      names = "--slots",
      paramLabel = "N",
      description = "Attempts at once (default: ${DEFAULT-VALUE}).",
      defaultValue = "256")
  private int slots;

  @Option(
      names = "--handler-millis",
      paramLabel = "N",
      description = "How long a handler sleeps (default: ${DEFAULT-VALUE}).",
      defaultValue = "20")
  private int handlerMillis;

  @Option(
      names = "--short",
      description = "50,000 overdue jobs: too few for lateness to be more than that of the start.")
  private boolean brief;

  @Override
  public Integer call() throws InterruptedException {
    options.knows(RunOptions.Kind.SQLITE);
    Report report = options.report(RunOptions.Kind.SQLITE.word());
    options.positive("--jobs", jobs);
    options.positive("--rate", rate);
    options.positive("--slots", slots);
    options.positive("--handler-millis", handlerMillis);
    int overdue = brief ? SHORT_JOBS : jobs;
    report.title("backlog");
    report.setting("sqlite", SqliteSettings.text());
    report.setting("overdue", overdue + " jobs, due over an hour, an hour to two ago");
    report.setting("newly due", rate + " jobs/s in the same lane, due 20–200 ms ahead");
    report.setting("clock", "real time plus " + BacklogRun.AHEAD);
    report.setting("slots", slots + ", doubling from " + FIRST_SLOTS + " each second");
    report.setting("handlers", "sleep for " + handlerMillis + " ms");
    report.setting("payload bytes", Order.bytes());
    report.setting("warm-up", WarmUp.JOBS + " jobs, on the node that fills the store");
    try (Workspace workspace = Workspace.in(options.dir)) {
      Path file = workspace.newFile("backlog");
      BacklogRun run =
          new BacklogRun(report, new BacklogRun.Size(overdue, rate, slots, handlerMillis));
      run.fill(file);
      print(report, overdue, run.run(file));
    }
    return report.verdict();
  }

  private void print(Report report, int overdue, BacklogRun.Found found) {
    String scenario = "backlog";
    Samples late = found.lateness();
    report.figure(Figure.of(scenario, "worked off in", found.seconds(), "s"));
    report.figure(Figure.of(scenario, "newly due jobs measured", late.size(), "jobs"));
    report.figure(Figure.of(scenario, "rate of newly due jobs", found.newPerSecond(), "jobs/s"));
    report.fact(scenario, "the rate was kept", found.newPerSecond() >= 0.98 * rate);
    report.figure(figure(scenario, "lateness of newly due jobs p50", late.percentile(50)));
    Figure p99 = figure(scenario, "lateness of newly due jobs p99", late.percentile(99));
    report.figure(brief ? p99 : p99.held(Bound.atMost(NEW_P99_MILLIS)));
    report.figure(figure(scenario, "lateness of newly due jobs max", late.max()));
    report.figure(Figure.of(scenario, "due around a forced GC", found.heldUp().size(), "jobs"));
    if (found.heldUp().size() > 0) {
      report.figure(figure(scenario, "their lateness p99", found.heldUp().percentile(99)));
    }
    report.figure(
        figure(scenario, "earliest start after its time", late.min()).held(Bound.atLeast(0)));
    starts(report, scenario, found);
    heap(report, scenario, overdue, found);
  }

  private void starts(Report report, String scenario, BacklogRun.Found found) {
    report.figure(
        Figure.of(scenario, "most attempts at once", found.mostAtOnce(), "jobs")
            .held(Bound.atMost(slots)));
    report.figure(
        Figure.of(scenario, "starts in the first second", found.startsInFirstSecond(), "jobs")
            .held(Bound.atMost(mostInASecond(Math.min(slots, FIRST_SLOTS)))));
    report.figure(
        Figure.of(scenario, "most starts in a second", found.mostStartsInASecond(), "jobs")
            .held(Bound.atMost(mostInASecond(slots))));
  }

  /** A slot starts one at the beginning of the second and another each time a handler returns. */
  private double mostInASecond(int atOnce) {
    return atOnce * (1000.0 / handlerMillis + 1);
  }

  private static void heap(Report report, String scenario, int overdue, BacklogRun.Found found) {
    double most = HEAP_BASE_MIB + overdue * HEAP_BYTES_A_JOB / MEBIBYTE;
    double third = found.heapAtAThird() / MEBIBYTE;
    double end = found.heapAtTheEnd() / MEBIBYTE;
    report.figure(
        Figure.of(scenario, "heap after GC, a third worked off", third, "MiB")
            .held(Bound.atMost(most)));
    report.figure(Figure.of(scenario, "heap after GC, nearly all worked off", end, "MiB"));
    report.figure(
        Figure.of(scenario, "heap growth from a third to the end", end - third, "MiB")
            .held(Bound.atMost(HEAP_GROWTH_MIB)));
  }

  private static Figure figure(String scenario, String metric, long nanos) {
    return Figure.of(scenario, metric, nanos / NANOS_PER_MILLI, "ms");
  }
}
