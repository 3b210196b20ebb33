package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Metrics;
import dev.carillon.store.jdbc.SqliteStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What it costs to look at the jobs of a busy day, and to let go of them. */
@Command(
    name = "history",
    description = "Reading and dropping the ended jobs of a busy day, packed by a node.")
final class HistoryCommand implements Callable<Integer> {
  private static final String SCENARIO = "history";
  private static final double MEBIBYTE = 1 << 20;
  private static final long SHORT_JOBS = 500_000;
  private static final int GETS = 500;
  private static final int LISTS = 20;
  private static final int WARM_UP = 3;
  private static final Duration PACKED_WITHIN = Duration.ofHours(1);
  private static final Duration FREED_WITHIN = Duration.ofMinutes(30);

  private static final double GET_MILLIS = 50;
  private static final double RARE_MILLIS = 1_000;
  private static final double COMMON_MILLIS = 200;
  private static final double HIDDEN_SECONDS = 1;
  private static final double COMMIT_MILLIS = 50;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Ended jobs (default: ${DEFAULT-VALUE}).",
      defaultValue = "10000000")
  private long jobs;

  @Option(names = "--short", description = "500,000 jobs.")
  private boolean brief;

  @Override
  public Integer call() throws IOException, InterruptedException {
    options.knows(RunOptions.Kind.SQLITE);
    Report report = options.report("sqlite");
    options.positive("--jobs", jobs);
    long all = brief ? SHORT_JOBS : jobs;
    report.title(SCENARIO);
    report.setting("jobs", all);
    report.setting("payload bytes", Order.bytes());
    report.setting("sqlite", SqliteSettings.text());
    try (Workspace workspace = Workspace.in(options.dir)) {
      Path file = workspace.newFile("history");
      alone(report, workspace);
      HistoryFill fill = fill(report, file, all);
      pack(report, file, fill);
      read(report, file, fill);
      drop(report, file, all);
      workspace.remove(file);
    }
    return report.verdict();
  }

  /** What a commit takes on this machine with nothing else going on in the store. */
  private void alone(Report report, Workspace workspace) throws InterruptedException {
    Path file = workspace.newFile("alone");
    try (Carillon carillon = builder(SqliteStore.open(file)).open();
        LonelyProducer producer = new LonelyProducer(carillon)) {
      TimeUnit.SECONDS.sleep(options.seconds);
      producer.report(report, "commit p99 with nothing else going on");
    }
    workspace.remove(file);
  }

  private static HistoryFill fill(Report report, Path file, long jobs) throws IOException {
    report.progress("writing %,d ended jobs in appends of 1 to 10".formatted(jobs));
    try (SqliteStore store = SqliteStore.open(file)) {
      HistoryFill fill = new HistoryFill(store, report);
      fill.run(jobs);
      report.setting("shards", fill.shards());
      report.setting("appends", fill.appends());
      report.setting("dead letters among them", fill.dead());
      report.figure(Figure.of(SCENARIO, "rate of writing", jobs / fill.seconds(), "jobs/s"));
      return fill;
    } finally {
      report.figure(Figure.of(SCENARIO, "file", Files.size(file) / MEBIBYTE, "MiB"));
    }
  }

  /** A node finds the shards and packs them, while somebody schedules jobs. */
  private static void pack(Report report, Path file, HistoryFill fill) throws InterruptedException {
    report.progress("packing %,d shards".formatted(fill.shards()));
    Packed packed = new Packed();
    long began = System.nanoTime();
    try (Carillon carillon = builder(SqliteStore.open(file)).metrics(packed).open();
        LonelyProducer producer = new LonelyProducer(carillon)) {
      boolean done =
          await(PACKED_WITHIN, () -> packed.shards.get() >= fill.shards(), report, packed);
      report.fact(SCENARIO, "all shards are packed", done);
      double seconds = (System.nanoTime() - began) / 1e9;
      report.figure(Figure.of(SCENARIO, "packing took", seconds, "s"));
      producer.report(report, "commit p99 while packing", Bound.atMost(COMMIT_MILLIS));
    }
  }

  private static CarillonBuilder builder(SqliteStore store) {
    return Carillon.builder().store(store).advanced(a -> a.historyBytes(0));
  }

  private static boolean await(Duration limit, BooleanSupplier done, Report report, Packed packed)
      throws InterruptedException {
    long until = System.nanoTime() + limit.toNanos();
    long told = System.nanoTime();
    while (!done.getAsBoolean() && System.nanoTime() < until) {
      TimeUnit.MILLISECONDS.sleep(100);
      if (System.nanoTime() - told > TimeUnit.SECONDS.toNanos(30)) {
        told = System.nanoTime();
        report.progress("%,d shards packed".formatted(packed.shards.get()));
      }
    }
    return done.getAsBoolean();
  }

  /** Counts shards as they are packed. */
  private static final class Packed implements Metrics {
    private final AtomicLong shards = new AtomicLong();

    @Override
    public void count(String name, long delta) {
      if (name.equals("shards.packed")) {
        shards.addAndGet(delta);
      }
    }

    @Override
    public void time(String name, long nanos) {}

    @Override
    public void gauge(String name, long value) {}
  }

  // ---- reading

  private static void read(Report report, Path file, HistoryFill fill) throws IOException {
    report.progress("reading");
    try (Carillon carillon = builder(SqliteStore.open(file)).open()) {
      readWholeFile(file);
      get(report, carillon, fill.ids());
      JobQuery newest = JobQuery.all().newestFirst().limit(50);
      long before = Heap.usedBytes();
      list(
          report, carillon, "newest 50 of a rare type", newest.type(HistoryFill.RARE), RARE_MILLIS);
      list(
          report,
          carillon,
          "newest 50 of a common type",
          newest.type(HistoryFill.COMMON),
          COMMON_MILLIS);
      list(report, carillon, "newest 50 dead letters", newest.states(JobState.DEAD), RARE_MILLIS);
      long start = System.nanoTime();
      int none = carillon.list(newest.type("no such type")).items().size();
      double millis = (System.nanoTime() - start) / 1e6;
      report.figure(Figure.of(SCENARIO, "a type that is not there", millis, "ms"));
      report.fact(SCENARIO, "nothing is found of it", none == 0);
      double growth = (Heap.usedBytes() - before) / MEBIBYTE;
      report.figure(Figure.of(SCENARIO, "heap growth by the lists", growth, "MiB"));
    }
  }

  private static void get(Report report, Carillon carillon, List<String> ids) {
    Samples nanos = new Samples();
    Samples histories = new Samples();
    for (int i = 0; i < GETS; i++) {
      JobId id = new JobId(ids.get(i % ids.size()));
      long start = System.nanoTime();
      boolean there = carillon.get(id).isPresent();
      nanos.add(System.nanoTime() - start);
      start = System.nanoTime();
      there &= carillon.history(id).isPresent();
      histories.add(System.nanoTime() - start);
      if (!there) {
        throw new IllegalStateException("job " + id + ": missing (expected: there)");
      }
    }
    report.figure(Figure.of(SCENARIO, "job by id, p50", nanos.percentile(50) / 1e6, "ms"));
    report.figure(
        Figure.of(SCENARIO, "job by id, p99", nanos.percentile(99) / 1e6, "ms")
            .held(Bound.atMost(GET_MILLIS)));
    report.figure(
        Figure.of(SCENARIO, "history by id, p99", histories.percentile(99) / 1e6, "ms")
            .held(Bound.atMost(GET_MILLIS)));
  }

  private static void list(
      Report report, Carillon carillon, String what, JobQuery query, double boundMillis) {
    Samples nanos = new Samples();
    int items = 0;
    for (int i = 0; i < WARM_UP + LISTS; i++) {
      long start = System.nanoTime();
      List<JobInfo> page = carillon.list(query).items();
      if (i >= WARM_UP) {
        nanos.add(System.nanoTime() - start);
      }
      items = page.size();
    }
    report.figure(Figure.of(SCENARIO, what + ", p50", nanos.percentile(50) / 1e6, "ms"));
    report.figure(
        Figure.of(SCENARIO, what + ", longest", nanos.max() / 1e6, "ms")
            .held(Bound.atMost(boundMillis)));
    report.figure(Figure.of(SCENARIO, what + ", found", items, "jobs"));
  }

  /** Brings the file into the page cache. */
  private static void readWholeFile(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
  }

  // ---- dropping

  /** The retention of the whole day is over: when it is no longer listed, and its bytes free. */
  private static void drop(Report report, Path file, long jobs)
      throws IOException, InterruptedException {
    report.progress("dropping the day");
    SqliteStore store = SqliteStore.open(file);
    Duration minute = Duration.ofMinutes(1);
    long began = System.nanoTime();
    try (Carillon carillon = builder(store).retention(minute, Duration.ofDays(30)).open();
        LonelyProducer producer = new LonelyProducer(carillon)) {
      JobQuery successes = JobQuery.all().newestFirst().states(JobState.SUCCEEDED);
      int left;
      do {
        left = carillon.list(successes.endedTo(Instant.now().minus(minute))).items().size();
      } while (left > 0 && System.nanoTime() - began < FREED_WITHIN.toNanos());
      report.figure(
          Figure.of(SCENARIO, "a day hidden", (System.nanoTime() - began) / 1e9, "s")
              .held(Bound.atMost(HIDDEN_SECONDS)));
      awaitFreed(report, store, file, began);
      producer.report(report, "commit p99 while bytes are freed", Bound.atMost(COMMIT_MILLIS));
      int dead = carillon.list(JobQuery.all().states(JobState.DEAD).newestFirst()).items().size();
      report.fact(SCENARIO, "dead letters are still there", dead > 0 || jobs < 10_000);
    }
    report.figure(Figure.of(SCENARIO, "file afterwards", Files.size(file) / MEBIBYTE, "MiB"));
  }

  /** Until for a while no entry was removed and the file had the same size. */
  private static void awaitFreed(Report report, SqliteStore store, Path file, long began)
      throws IOException, InterruptedException {
    long freed = -1;
    long size = -1;
    long at = System.nanoTime();
    long quiet = TimeUnit.SECONDS.toNanos(30);
    while (System.nanoTime() - at < quiet && System.nanoTime() - began < FREED_WITHIN.toNanos()) {
      long nowFreed = store.counters().freedEntries();
      long nowSize = Files.size(file);
      if (nowFreed != freed || nowSize < size || size < 0) {
        freed = nowFreed;
        size = nowSize;
        at = System.nanoTime();
      }
      TimeUnit.MILLISECONDS.sleep(200);
    }
    report.figure(Figure.of(SCENARIO, "its bytes free after", (at - began) / 1e9, "s"));
    report.figure(Figure.of(SCENARIO, "entries removed", (double) freed, ""));
  }
}
