package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.json.JacksonCodec;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What waiting jobs cost. */
@Command(
    name = "pending",
    description = "What jobs that wait cost: heap, a restart, a cancel, a list.")
final class PendingCommand implements Callable<Integer> {
  private static final double MEBIBYTE = 1 << 20;
  private static final double HEAP_MIB = 64;
  private static final double HEAP_BYTES_A_JOB = 200;
  private static final long MEMORY_JOBS = 1_000_000;
  private static final Duration NEAR_LEAST = Duration.ofSeconds(45);
  private static final Duration NEAR_MOST = Duration.ofSeconds(60);

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Jobs due over 30 days (default: 10,000,000; 1,000,000 in memory).")
  private long jobs;

  @Option(
      names = "--near-jobs",
      paramLabel = "N",
      description = "Jobs due within a minute (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private long nearJobs;

  @Option(
      names = "--cancels",
      paramLabel = "N",
      description = "Cancels, cold and warm each (default: ${DEFAULT-VALUE}).",
      defaultValue = "500")
  private int cancels;

  @Override
  public Integer call() throws InterruptedException {
    options.knows(RunOptions.Kind.SQLITE, RunOptions.Kind.MEMORY);
    Report report = options.report();
    options.positive("--cancels", cancels);
    boolean sqlite = options.store == RunOptions.Kind.SQLITE;
    long far = jobs > 0 ? jobs : sqlite ? 10_000_000 : MEMORY_JOBS;
    int payload = new JacksonCodec().encode(Order.of(1), Order.class).length;
    report.title("pending");
    report.setting("payload bytes", payload);
    report.setting("codec", "json");
    report.setting("jobs over 30 days", far);
    report.setting("jobs within a minute", nearJobs);
    if (sqlite) {
      report.setting("sqlite", SqliteSettings.text());
    }
    try (Workspace workspace = Workspace.in(options.dir)) {
      if (far > 0 && sqlite) {
        farOnFile(report, workspace, far);
      } else if (far > 0) {
        farInMemory(report, far);
      }
      if (nearJobs > 0) {
        near(report, sqlite ? workspace.newFile("near") : null, payload);
      }
    }
    return report.verdict();
  }

  private static void handle(Carillon carillon) {
    carillon.handle(PendingJobs.ORDER, (order, job) -> {});
    carillon.handle(PendingJobs.REMINDER, (order, job) -> {});
  }

  private void farOnFile(Report report, Workspace workspace, long far) throws InterruptedException {
    String scenario = "pending";
    Path file = workspace.newFile("pending");
    List<String> ids;
    try (Carillon carillon = Carillon.builder().store(SqliteStore.open(file)).open()) {
      handle(carillon);
      ids = fill(report, scenario, carillon, far, Bound.atMost(HEAP_MIB));
      var unused = carillon.schedule(PendingJobs.FIRST.job(Order.of(0)).in(Duration.ofMillis(100)));
    }
    report.figure(Figure.of(scenario, "file", size(file) / MEBIBYTE, "MiB"));
    report.figure(Figure.of(scenario, "file, each job", (double) size(file) / far, "B"));
    report.progress("restarting in a fresh process");
    new Restart(report, workspace, cancels).run(file, ids);
    workspace.remove(file);
  }

  private void farInMemory(Report report, long far) throws InterruptedException {
    String scenario = "pending";
    try (Carillon carillon = Carillon.builder().store(new MemoryStore()).open()) {
      handle(carillon);
      List<String> ids = fill(report, scenario, carillon, far, null);
      Samples cancelled = new Samples();
      for (String id : ids.subList(0, Math.min(cancels, ids.size()))) {
        cancelled.add(RestartCommand.cancelNanos(carillon, id));
      }
      report.figure(Figure.of(scenario, "cancel p99", cancelled.percentile(99) / 1e6, "ms"));
    }
  }

  /** Schedules them and says what they cost; returns the ids of some. */
  private List<String> fill(
      Report report, String scenario, Carillon carillon, long far, @Nullable Bound bound)
      throws InterruptedException {
    report.progress("scheduling %,d jobs over 30 days".formatted(far));
    new Fill(carillon, report).run(1000, 0, PendingJobs.scattered(Instant.now()));
    long before = Heap.usedBytes();
    Fill fill = new Fill(carillon, report);
    fill.run(far, cancels * 2 + cancels / 2, PendingJobs.scattered(Instant.now()));
    double growth = (Heap.usedBytes() - before) / MEBIBYTE;
    report.figure(Figure.of(scenario, "rate of scheduling", fill.perSecond(), "jobs/s"));
    Figure heap = Figure.of(scenario, "heap growth after GC", growth, "MiB");
    report.figure(bound == null ? heap : heap.held(bound));
    report.progress(carillon.node().stats().toString());
    return fill.kept();
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All of them in memory, none of them run yet. */
  private void near(Report report, @Nullable Path file, int payload) throws InterruptedException {
    String scenario = "pending, within a minute";
    report.progress("scheduling %,d jobs within a minute".formatted(nearJobs));
    MemoryStore memory = new MemoryStore();
    Store store = file == null ? memory : SqliteStore.open(file);
    try (Carillon carillon = Carillon.builder().store(store).open()) {
      handle(carillon);
      new Fill(carillon, report).run(1000, 0, PendingJobs.scattered(Instant.now()));
      long before = Heap.usedBytes() - memory.heldBytes();
      Instant start = Instant.now();
      Fill fill = new Fill(carillon, report);
      fill.run(nearJobs, 0, PendingJobs.near(start, NEAR_LEAST, NEAR_MOST));
      long growth = Heap.usedBytes() - memory.heldBytes() - before;
      Duration took = Duration.between(start, Instant.now());
      double each = (double) growth / nearJobs;
      report.progress(carillon.node().stats().toString());
      report.figure(Figure.of(scenario, "rate of scheduling", fill.perSecond(), "jobs/s"));
      report.figure(Figure.of(scenario, "heap, each job", each, "B"));
      report.figure(
          Figure.of(scenario, "heap, each job beyond its payload", each - payload, "B")
              .held(Bound.atMost(HEAP_BYTES_A_JOB)));
      report.fact(scenario, "measured before the first was due", took.compareTo(NEAR_LEAST) < 0);
    }
  }
}
