package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Has the jobs of one tenant become due at once and those of the others while they are worked off,
 * and tells how late the others start.
 */
final class TenantsRun {
  static final int HANDLER_MILLIS = 1;

  private static final TaskType<Work> WORK = TaskType.of("work", Work.class);
  private static final int SECONDS_AT_MOST = 1200;

  /** How fast jobs are scheduled at the least, and started at the most, to plan the times by. */
  private static final int SLOWEST_FILL = 40_000;

  private static final int FASTEST_STARTS = 400_000;
  private static final long LEAST_LEAD_MICROS = 3_000_000;

  private final StorePlace place;
  private final Size size;
  private final boolean ownNamespaces;
  private final SplittableRandom random = new SplittableRandom(8);
  private final LatenessLog log;
  private final AtomicLong lastOfTheOneMicros = new AtomicLong();

  /** Jobs of the one tenant, other tenants, and the jobs of each. */
  record Size(int jobs, int tenants, int each) {
    int ofOthers() {
      return tenants * each;
    }
  }

  /** A job, with its time where it is measured, else 0. */
  record Work(long dueMicros, Order order) {}

  /**
   * What came of it.
   *
   * @param busy whether the one tenant had jobs to start until the last of the others was due
   */
  record Found(Samples lateness, double perSecond, boolean filledInTime, boolean busy) {}

  TenantsRun(StorePlace place, Size size, boolean ownNamespaces) {
    this.place = place;
    this.size = size;
    this.ownNamespaces = ownNamespaces;
    this.log = new LatenessLog(size.ofOthers());
  }

  Found run(Report report) throws InterruptedException {
    try (Carillon carillon = Carillon.open(place.newAddress("tenants"))) {
      carillon.handle(WORK, (work, job) -> started(work));
      WarmUp.run(carillon, report);
      int all = size.jobs() + size.ofOthers();
      long due = WallClock.micros() + LEAST_LEAD_MICROS + all * 1_000_000L / SLOWEST_FILL;
      long spread = Math.max(1000, size.jobs() * 1_000_000L / FASTEST_STARTS);
      new Fill(carillon, report).run(size.ofOthers(), 0, number -> other(number, due, spread));
      new Fill(carillon, report)
          .run(size.jobs(), 0, number -> job("one", 0, due, Order.of(number)));
      boolean inTime = WallClock.micros() < due;
      report.progress("scheduled; waiting for their time");
      LatenessLog.await(
          "starts of " + all + " jobs",
          () -> log.recorded() + log.others() == all,
          SECONDS_AT_MOST);
      report.progress("lateness p99 in ms, each 5 %: " + log.course(1 + size.ofOthers() / 20));
      double seconds = (WallClock.micros() - due) / 1e6;
      boolean busy = lastOfTheOneMicros.get() >= due + spread;
      return new Found(log.samples(), all / seconds, inTime, busy);
    }
  }

  private Job<Void> other(long number, long dueMicros, long spreadMicros) {
    long due = dueMicros + random.nextLong(spreadMicros);
    return job("tenant-" + number % size.tenants(), due, due, Order.of(number));
  }

  private Job<Void> job(String tenant, long measuredMicros, long dueMicros, Order order) {
    return WORK.job(new Work(measuredMicros, order))
        .at(WallClock.instant(dueMicros))
        .namespace(ownNamespaces ? tenant : "all");
  }

  private void started(Work work) throws InterruptedException {
    if (work.dueMicros != 0) {
      log.add(WallClock.nanosSince(work.dueMicros));
    } else {
      log.addOther();
      lastOfTheOneMicros.accumulateAndGet(WallClock.micros(), Math::max);
    }
    Thread.sleep(HANDLER_MILLIS);
  }
}
