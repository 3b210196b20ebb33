package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.Page;
import dev.carillon.store.jdbc.SqliteStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A process that starts on a store with many jobs; run by the pending benchmark. */
@Command(name = "restart", hidden = true, description = "Opens a store with many jobs.")
final class RestartCommand implements Callable<Integer> {
  private static final double MEBIBYTE = 1 << 20;
  private static final int DISPATCH_SECONDS = 120;

  @Parameters(index = "0", paramLabel = "FILE")
  private Path file = Path.of("");

  @Parameters(index = "1", paramLabel = "IDS")
  private Path ids = Path.of("");

  @Option(names = "--cancels")
  private int cancels;

  @Option(names = "--started")
  private long startedMillis;

  @Override
  public Integer call() throws IOException, InterruptedException {
    CountDownLatch dispatched = new CountDownLatch(1);
    long opening = System.currentTimeMillis();
    try (Carillon carillon = Carillon.builder().store(SqliteStore.open(file)).open()) {
      carillon.handle(PendingJobs.FIRST, (order, job) -> dispatched.countDown());
      carillon.handle(PendingJobs.ORDER, (order, job) -> {});
      carillon.handle(PendingJobs.REMINDER, (order, job) -> {});
      if (!dispatched.await(DISPATCH_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nothing was dispatched in " + DISPATCH_SECONDS + " s");
      }
      long now = System.currentTimeMillis();
      tell("from start to first dispatch", (now - startedMillis) / 1e3);
      tell("from opening to first dispatch", (now - opening) / 1e3);
      cancelAll(carillon);
      list(carillon);
    }
    return 0;
  }

  private static void tell(String what, double value) {
    System.out.println(what + "=" + String.format(Locale.ROOT, "%.6f", value));
  }

  private void cancelAll(Carillon carillon) throws IOException {
    List<String> all = Files.readAllLines(ids);
    int each = Math.min(cancels, all.size() / 2);
    Samples cold = new Samples();
    for (String id : all.subList(0, each)) {
      cold.add(cancelNanos(carillon, id));
    }
    readWholeFile();
    Samples warm = new Samples();
    for (String id : all.subList(each, 2 * each)) {
      warm.add(cancelNanos(carillon, id));
    }
    tell("cancel, cold", cold);
    tell("cancel, warm", warm);
    tell("cancels answered with cancelled", 100);
    tell("heap after the cancels", Heap.usedBytes() / MEBIBYTE);
  }

  private static void tell(String what, Samples nanos) {
    tell(what + ", p50", nanos.percentile(50) / 1e6);
    tell(what + ", p99", nanos.percentile(99) / 1e6);
    tell(what + ", max", nanos.max() / 1e6);
  }

  /** Cancels a job that waits and says how long it took. */
  static long cancelNanos(Carillon carillon, String id) {
    long start = System.nanoTime();
    CancelResult result = carillon.cancel(new JobId(id), "bench");
    long nanos = System.nanoTime() - start;
    if (!(result instanceof CancelResult.Cancelled)) {
      throw new IllegalStateException("cancel of " + id + ": " + result + " (expected: cancelled)");
    }
    return nanos;
  }

  /** Brings the file into the page cache. */
  private void readWholeFile() throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
  }

  private static void list(Carillon carillon) {
    long before = Heap.usedBytes();
    long allocated = allocatedBytes();
    Instant from = Instant.now().plus(Duration.ofDays(10));
    Page<JobInfo> day =
        timed(carillon, "first page of a day and a type", from, from.plus(Duration.ofDays(1)));
    Page<JobInfo> days =
        timed(carillon, "first page of ten days and a type", from, from.plus(Duration.ofDays(10)));
    tell("jobs on the first page", Math.min(day.items().size(), days.items().size()));
    tell("allocated by the lists", (allocatedBytes() - allocated) / MEBIBYTE);
    tell("heap growth by the lists", (Heap.usedBytes() - before) / MEBIBYTE);
  }

  private static Page<JobInfo> timed(Carillon carillon, String what, Instant from, Instant to) {
    JobQuery query = JobQuery.all().type(PendingJobs.REMINDER.name()).dueFrom(from).dueTo(to);
    long start = System.nanoTime();
    Page<JobInfo> page = carillon.list(query);
    tell(what, (System.nanoTime() - start) / 1e9);
    return page;
  }

  private static long allocatedBytes() {
    return ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean threads
        ? threads.getTotalThreadAllocatedBytes()
        : 0;
  }
}
