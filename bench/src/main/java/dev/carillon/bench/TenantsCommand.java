package dev.carillon.bench;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** One tenant with a great many due jobs beside others with few. */
@Command(
    name = "tenants",
    description = "One tenant with a great many due jobs: how late those of the others start.")
final class TenantsCommand implements Callable<Integer> {
  private static final double OTHERS_P99_MILLIS = 50;
  private static final double IN_DUE_ORDER_P99_MILLIS = 1000;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final int SHORT_JOBS = 50_000;
  private static final int SHORT_EACH = 10;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Due jobs of the one tenant (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private int jobs;

  @Option(
      names = "--tenants",
      paramLabel = "N",
      description = "Other tenants (default: ${DEFAULT-VALUE}).",
      defaultValue = "99")
  private int tenants;

  @Option(
      names = "--each",
      paramLabel = "N",
      description = "Jobs of each other tenant (default: ${DEFAULT-VALUE}).",
      defaultValue = "100")
  private int each;

  @Option(
      names = "--short",
      description = "50,000 jobs and 10 of each other tenant: too few for due order to be late.")
  private boolean brief;

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report();
    options.positive("--jobs", jobs);
    options.positive("--tenants", tenants);
    options.positive("--each", each);
    TenantsRun.Size size =
        new TenantsRun.Size(brief ? SHORT_JOBS : jobs, tenants, brief ? SHORT_EACH : each);
    report.title("tenants");
    report.setting("one tenant", size.jobs() + " jobs, all due at the same time");
    report.setting("the others", tenants + " with " + size.each() + " jobs each, due after that");
    report.setting("handlers", "sleep for " + TenantsRun.HANDLER_MILLIS + " ms");
    report.setting("payload bytes", Order.bytes());
    report.setting("warm-up", WarmUp.JOBS + " jobs before each run");
    try (StorePlace place = StorePlace.of(options)) {
      report.setting(options.store.word(), place.settings());
      report.progress("each tenant in a namespace of its own");
      print(report, "tenants", new TenantsRun(place, size, true).run(report), true);
      report.progress("all in one namespace and queue, which is plain due order");
      print(report, "due order", new TenantsRun(place, size, false).run(report), false);
    }
    return report.verdict();
  }

  private void print(Report report, String scenario, TenantsRun.Found found, boolean fair) {
    Samples late = found.lateness();
    report.figure(Figure.of(scenario, "rate of all starts", found.perSecond(), "jobs/s"));
    report.figure(Figure.of(scenario, "jobs of the others", late.size(), "jobs"));
    report.figure(figure(scenario, "lateness of the others p50", late.percentile(50)));
    Figure p99 = figure(scenario, "lateness of the others p99", late.percentile(99));
    if (fair) {
      report.figure(p99.held(Bound.atMost(OTHERS_P99_MILLIS)));
    } else {
      report.figure(brief ? p99 : p99.held(Bound.atLeast(IN_DUE_ORDER_P99_MILLIS)));
    }
    report.figure(figure(scenario, "lateness of the others max", late.max()));
    report.figure(
        figure(scenario, "earliest start after its time", late.min()).held(Bound.atLeast(0)));
    report.fact(scenario, "all was scheduled before it was due", found.filledInTime());
    report.fact(scenario, "the one was at work until the last of them was due", found.busy());
  }

  private static Figure figure(String scenario, String metric, long nanos) {
    return Figure.of(scenario, metric, nanos / NANOS_PER_MILLI, "ms");
  }
}
