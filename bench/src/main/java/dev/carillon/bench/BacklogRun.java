package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import dev.carillon.store.jdbc.SqliteStore;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Fills a store with jobs that are not due, opens it with a clock to which all of them are overdue,
 * and schedules more into the same lane until the backlog is worked off.
 */
final class BacklogRun {
  static final Duration AHEAD = Duration.ofHours(3);

  private static final TaskType<Work> WORK = TaskType.of("work", Work.class);
  private static final Duration LEAST_AHEAD = Duration.ofHours(1);
  private static final Duration MOST_AHEAD = Duration.ofHours(2);
  private static final long LEAST_NEW_MICROS = 20_000;
  private static final long MOST_NEW_MICROS = 200_000;
  private static final long SLICE_NANOS = 1_000_000;
  private static final int SECONDS_AT_MOST = 1800;
  private static final int IN_FLIGHT = 50_000;
  private static final double NEARLY_ALL = 0.95;

  private final Report report;
  private final Size size;
  private final OffsetTime time = OffsetTime.ahead(AHEAD);
  private final SplittableRandom random = new SplittableRandom(9);
  private final LatenessLog log;
  private final LatenessLog heldUp;
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger mostAtOnce = new AtomicInteger();
  private final AtomicIntegerArray startsBySecond = new AtomicIntegerArray(2 * SECONDS_AT_MOST);
  private final Semaphore free = new Semaphore(IN_FLIGHT);
  private volatile long openedNanos;
  private volatile long collectingFromMicros;
  private volatile long collectingToMicros;
  private volatile boolean workedOff;
  private double newPerSecond;

  /** Overdue jobs, newly due ones a second, attempts at once and how long each takes. */
  record Size(int overdue, int rate, int slots, int handlerMillis) {}

  /** A job, with its time where it is measured, else 0. */
  record Work(long dueMicros, Order order) {}

  /**
   * What came of it.
   *
   * @param heldUp lateness of what was due while the heap was measured
   */
  record Found(
      Samples lateness,
      Samples heldUp,
      double seconds,
      double newPerSecond,
      int mostAtOnce,
      int startsInFirstSecond,
      int mostStartsInASecond,
      long heapAtAThird,
      long heapAtTheEnd) {}

  BacklogRun(Report report, Size size) {
    this.report = report;
    this.size = size;
    this.log = new LatenessLog(size.rate() * SECONDS_AT_MOST / 2);
    this.heldUp = new LatenessLog(size.rate() * SECONDS_AT_MOST / 2);
  }

  void fill(Path file) throws InterruptedException {
    report.progress("scheduling %,d jobs".formatted(size.overdue()));
    Instant now = Instant.now();
    try (Carillon carillon = Carillon.builder().store(SqliteStore.open(file)).open()) {
      WarmUp.run(carillon, report);
      new Fill(carillon, report)
          .run(
              size.overdue(),
              0,
              number -> {
                long ahead = random.nextLong(LEAST_AHEAD.toMillis(), MOST_AHEAD.toMillis());
                return WORK.job(new Work(0, Order.of(number))).at(now.plusMillis(ahead));
              });
    }
  }

  Found run(Path file) throws InterruptedException {
    openedNanos = System.nanoTime();
    report.progress("opening, with all of them overdue");
    try (Carillon carillon =
        Carillon.builder()
            .store(SqliteStore.open(file))
            .advanced(a -> a.timeSource(time))
            .slots(size.slots())
            .open()) {
      carillon.handle(WORK, (work, job) -> started(work));
      Thread producer = Thread.ofPlatform().name("producer").start(() -> produce(carillon));
      long third = heapAt(carillon, size.overdue() / 3);
      long end = heapAt(carillon, (long) (size.overdue() * NEARLY_ALL));
      await(size.overdue());
      workedOff = true;
      double seconds = (System.nanoTime() - openedNanos) / 1e9;
      producer.join();
      free.acquire(IN_FLIGHT);
      report.progress("lateness p99 in ms, each 5 s: " + log.course(5 * size.rate()));
      return new Found(
          log.samples(),
          heldUp.samples(),
          seconds,
          newPerSecond,
          mostAtOnce.get(),
          startsBySecond.get(0),
          mostStartsInASecond(),
          third,
          end);
    } finally {
      workedOff = true;
    }
  }

  private void await(long worked) throws InterruptedException {
    LatenessLog.await(
        "starts of " + worked + " overdue jobs", () -> log.others() >= worked, SECONDS_AT_MOST);
  }

  /** Forces a collection, which holds up everything: what is due around it is told apart. */
  private long heapAt(Carillon carillon, long worked) throws InterruptedException {
    await(worked);
    collectingFromMicros = time.wallMicros() - MOST_NEW_MICROS;
    collectingToMicros = Long.MAX_VALUE;
    System.gc();
    long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    collectingToMicros = time.wallMicros() + MOST_NEW_MICROS;
    report.progress("%,d worked off: %s".formatted(log.others(), carillon.node().stats()));
    return used;
  }

  private void started(Work work) throws InterruptedException {
    mostAtOnce.accumulateAndGet(running.incrementAndGet(), Math::max);
    long second = (System.nanoTime() - openedNanos) / 1_000_000_000;
    startsBySecond.incrementAndGet((int) Math.min(second, startsBySecond.length() - 1));
    if (work.dueMicros != 0) {
      boolean collecting =
          work.dueMicros >= collectingFromMicros && work.dueMicros <= collectingToMicros;
      (collecting ? heldUp : log).add(time.nanosSince(work.dueMicros));
    } else {
      log.addOther();
    }
    Thread.sleep(size.handlerMillis());
    running.decrementAndGet();
  }

  private int mostStartsInASecond() {
    int most = 0;
    for (int i = 0; i < startsBySecond.length(); i++) {
      most = Math.max(most, startsBySecond.get(i));
    }
    return most;
  }

  /** By the clock: what a pause held up is made up for. */
  private void produce(Carillon carillon) {
    long start = System.nanoTime();
    long done = 0;
    while (!workedOff) {
      long target = (System.nanoTime() - start) * size.rate() / 1_000_000_000L;
      for (; done < target && !workedOff; done++) {
        scheduleOne(carillon, done);
      }
      LockSupport.parkNanos(SLICE_NANOS);
    }
    newPerSecond = done / ((System.nanoTime() - start) / 1e9);
  }

  private void scheduleOne(Carillon carillon, long number) {
    free.acquireUninterruptibly();
    long due = time.wallMicros() + random.nextLong(LEAST_NEW_MICROS, MOST_NEW_MICROS);
    var unused =
        carillon
            .scheduleAsync(WORK.job(new Work(due, Order.of(number))).at(WallClock.instant(due)))
            .whenComplete((job, thrown) -> free.release());
  }
}
