package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Carillon with its defaults: one node schedules and stops, another starts and runs. */
final class CarillonBurnDown implements BurnDown {
  private static final TaskType<Order> ORDER = TaskType.of("order", Order.class);
  private static final int SECONDS_AT_MOST = 600;

  private final ServerPlace place;
  private final Report report;

  CarillonBurnDown(ServerPlace place, Report report) {
    this.place = place;
    this.report = report;
  }

  @Override
  public Drained run(int jobs) throws InterruptedException {
    String address = place.newAddress("burn_down");
    double enqueued = enqueue(address, jobs);
    place.checkpoint();
    double perSecond = drain(address, jobs);
    CensusCommand.Counted counted = CensusCommand.inFreshProcess(address);
    place.remove(address);
    return new Drained(enqueued, perSecond, counted.ended() == jobs && counted.all() == jobs);
  }

  /** Without a handler: they wait. */
  private static double enqueue(String address, int jobs) {
    try (Carillon carillon = Carillon.open(address)) {
      Instant due = Instant.now();
      long start = System.nanoTime();
      for (int from = 0; from < jobs; from += BATCH) {
        List<Job<?>> batch = new ArrayList<>(BATCH);
        for (int i = from; i < Math.min(jobs, from + BATCH); i++) {
          batch.add(ORDER.job(Order.of(i)).at(due));
        }
        var unused = carillon.scheduleAll(batch);
      }
      return BurnDown.perSecond(jobs, start);
    }
  }

  private double drain(String address, int jobs) throws InterruptedException {
    LongAdder ran = new LongAdder();
    long start = System.nanoTime();
    try (Carillon carillon = Carillon.open(address)) {
      carillon.handle(ORDER, (order, job) -> ran.increment());
      // What has run and is not durably ended is among those that run.
      LatenessLog.await(
          "the end of " + jobs + " jobs",
          () -> ran.sum() >= jobs && carillon.node().stats().running() == 0,
          SECONDS_AT_MOST);
      double perSecond = BurnDown.perSecond(jobs, start);
      report.progress("carillon: %,.0f jobs/s".formatted(perSecond));
      return perSecond;
    }
  }
}
