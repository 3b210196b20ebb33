package dev.carillon.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.carillon.Carillon;
import dev.carillon.api.JobInfo;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.store.jdbc.SqliteStore;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How fast the dashboard's pages have their data, and what open dashboards cost. */
@Command(
    name = "dashboard",
    description =
        "Asks what each page of the dashboard asks, on a store with many jobs and under load, and"
            + " plays many open dashboards.")
final class DashboardCommand implements Callable<Integer> {
  private static final String SCENARIO = "dashboard";
  private static final double MOST_MILLIS = 500;
  private static final double MOST_READS = 200;
  private static final double MOST_CORE = 10;
  private static final double MOST_LATER_MILLIS = 1;
  private static final long SHORT_PART = 20;
  private static final int PACKED_WITHIN_SECONDS = 3_600;
  private static final int SCHEDULES = 1_000;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--ended",
      paramLabel = "N",
      description = "Ended jobs (default: ${DEFAULT-VALUE}).",
      defaultValue = "10000000")
  private long ended;

  @Option(
      names = "--pending",
      paramLabel = "N",
      description = "Pending jobs (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private long pending;

  @Option(
      names = "--due",
      paramLabel = "N",
      description = "Jobs due each second (default: ${DEFAULT-VALUE}).",
      defaultValue = "20000")
  private int due;

  @Option(
      names = "--dashboards",
      paramLabel = "N",
      description = "Open dashboards (default: ${DEFAULT-VALUE}).",
      defaultValue = "50")
  private int dashboards;

  @Option(names = "--short", description = "A twentieth of the jobs.")
  private boolean brief;

  @Override
  public Integer call() throws Exception {
    options.knows(RunOptions.Kind.SQLITE);
    options.positive("--due", due);
    options.positive("--dashboards", dashboards);
    long part = brief ? SHORT_PART : 1;
    Report report = options.report();
    report.title(SCENARIO);
    report.setting("ended jobs", ended / part);
    report.setting("pending jobs", pending / part);
    report.setting("recurring jobs", SCHEDULES);
    report.setting("due each second", due);
    report.setting("sqlite", SqliteSettings.text());
    try (Workspace workspace = Workspace.in(options.dir)) {
      Path file = workspace.newFile(SCENARIO);
      int shards;
      try (SqliteStore store = SqliteStore.open(file)) {
        HistoryFill fill = new HistoryFill(store, report);
        fill.run(ended / part);
        shards = fill.shards();
      }
      measure(report, file, shards, pending / part);
      workspace.remove(file);
    }
    return report.verdict();
  }

  private void measure(Report report, Path file, int shards, long jobs) throws Exception {
    CountedStore store = new CountedStore(SqliteStore.open(file));
    try (Carillon carillon =
            Carillon.builder()
                .store(store)
                .nodeId("measured")
                .advanced(a -> a.historyBytes(0))
                .open();
        CarillonServer server = CarillonServer.start(carillon, ServerOptions.standard().port(0))) {
      carillon.handle(PendingJobs.ORDER, (order, job) -> {});
      carillon.handle(PendingJobs.REMINDER, (order, job) -> {});
      new Fill(carillon, report).run(jobs, 0, PendingJobs.scattered(Instant.now()));
      schedule(carillon);
      awaitPacked(carillon, shards, report);
      String id =
          carillon
              .schedule(PendingJobs.ORDER.job(Order.of(1)).in(Duration.ofHours(1)))
              .id()
              .value();
      PacedStarts starts = new PacedStarts(carillon, due);
      JobInfo schedule = carillon.get("default", "reminder-7").orElseThrow();
      DashboardPages pages = new DashboardPages(server.address(), id, schedule);
      pages.loadAll(); // warm
      pages(report, starts, pages, store);
      open(report, starts, server.address());
    }
  }

  /** Recurring jobs, with times of day that are spread evenly. */
  private static void schedule(Carillon carillon) {
    for (int i = 0; i < SCHEDULES; i++) {
      Schedule daily = Schedule.cron("%d %d * * *".formatted(i % 60, i / 60 % 24));
      carillon.schedule(PendingJobs.REMINDER.job(Order.of(i)).named("reminder-" + i).on(daily));
    }
  }

  /** The shards of the past are packed first, as they are on a node that has lived for a while. */
  private static void awaitPacked(Carillon carillon, int shards, Report report)
      throws InterruptedException {
    report.progress("packing %,d shards".formatted(shards));
    LatenessLog.await(
        "all shards packed",
        () -> carillon.node().figures().count("shards.packed") >= shards,
        PACKED_WITHIN_SECONDS);
  }

  /** Each page alone, while jobs run. */
  private void pages(Report report, PacedStarts starts, DashboardPages pages, CountedStore store)
      throws Exception {
    Map<String, Samples> millis = new TreeMap<>();
    Map<String, Samples> blocks = new TreeMap<>();
    Thread load =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    starts.run(options.warmup, options.seconds * 2);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    while (load.isAlive()) {
      for (String page : pages.names()) {
        CountedStore.Calls before = store.calls();
        long nanos = pages.load(page);
        CountedStore.Calls after = store.calls().since(before);
        millis.computeIfAbsent(page, name -> new Samples()).add(nanos);
        blocks.computeIfAbsent(page, name -> new Samples()).add(after.blocks() + after.listings());
      }
    }
    load.join();
    millis.forEach(
        (page, samples) -> {
          report.figure(
              Figure.of(SCENARIO, page + ": data, p95", samples.percentile(95) / 1e6, "ms")
                  .held(Bound.atMost(MOST_MILLIS)));
          report.figure(
              Figure.of(SCENARIO, page + ": reads", half(blocks, page), "blocks")
                  .held(Bound.atMost(MOST_READS)));
        });
  }

  /** In the middle of all looks at a page: the load reads too, now and then. */
  private static double half(Map<String, Samples> blocks, String page) {
    Samples samples = blocks.get(page);
    return samples != null ? samples.percentile(50) : 0;
  }

  /** Lateness and CPU without and with many open dashboards. */
  private void open(Report report, PacedStarts starts, InetSocketAddress server) throws Exception {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long cpu = system.getProcessCpuTime();
    long began = System.nanoTime();
    starts.run(options.warmup, options.seconds);
    double without = (double) (system.getProcessCpuTime() - cpu) / (System.nanoTime() - began);
    double p99 = starts.lateness().percentile(99) / 1e6;
    double with;
    double p99With;
    try (OpenDashboards clients = new OpenDashboards(server, dashboards)) {
      long clientsBefore = clients.cpuNanos();
      cpu = system.getProcessCpuTime();
      began = System.nanoTime();
      starts.run(options.warmup, options.seconds);
      double took = System.nanoTime() - began;
      double own = clients.cpuNanos() - clientsBefore;
      with = (system.getProcessCpuTime() - cpu - own) / took;
      p99With = starts.lateness().percentile(99) / 1e6;
      report.setting("requests of dashboards", clients.requests());
    }
    report.figure(Figure.of(SCENARIO, "lateness p99 without", p99, "ms"));
    report.figure(Figure.of(SCENARIO, "lateness p99 with " + dashboards, p99With, "ms"));
    report.figure(
        Figure.of(SCENARIO, "later by", Math.max(0, p99With - p99), "ms")
            .held(Bound.atMost(MOST_LATER_MILLIS)));
    report.figure(
        Figure.of(
                SCENARIO,
                "CPU of " + dashboards + " dashboards",
                100 * (with - without),
                "% of a core")
            .held(Bound.atMost(MOST_CORE)));
  }
}
