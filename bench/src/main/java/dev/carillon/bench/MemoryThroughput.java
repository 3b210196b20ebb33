package dev.carillon.bench;

import dev.carillon.api.Job;
import dev.carillon.api.JobState;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import dev.carillon.store.MemoryStore;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongFunction;

/** The throughput scenarios in memory, beside a floor of the same codec and threads. */
final class MemoryThroughput {
  private static final TaskType<byte[]> BLOB = TaskType.of("blob", byte[].class);
  private static final double JSON_JOBS = 400_000;
  private static final double BYTES_JOBS = 800_000;
  private static final double PERCENT_OF_FLOOR = 50;

  private final RunOptions options;
  private final Producers.Crowd crowd;
  private final Report report;

  MemoryThroughput(RunOptions options, Producers.Crowd crowd, Report report) {
    this.options = options;
    this.crowd = crowd;
    this.report = report;
  }

  void json(PayloadCodec codec) throws InterruptedException {
    report.setting("codec", codec.name());
    measure(
        "throughput, json",
        SqliteThroughput.ORDER,
        codec,
        number -> SqliteThroughput.ORDER.job(Order.of(number)),
        new Floor(codec, Order.class, Order::of),
        JSON_JOBS);
  }

  void bytes(PayloadCodec codec, int size) throws InterruptedException {
    report.setting("codec", codec.name());
    byte[] blob = new byte[size];
    ThreadLocalRandom.current().nextBytes(blob);
    measure(
        "throughput, bytes",
        BLOB,
        codec,
        number -> BLOB.job(blob),
        new Floor(codec, byte[].class, number -> blob),
        BYTES_JOBS);
  }

  private <I> void measure(
      String scenario,
      TaskType<I> type,
      PayloadCodec codec,
      LongFunction<Job<Void>> jobs,
      Floor floor,
      double leastJobs)
      throws InterruptedException {
    Rounds rates = new Rounds();
    Rounds floors = new Rounds();
    Rounds percents = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      double rate = round(scenario, round, new ThroughputRound<>(type, codec, jobs));
      report.progress(scenario + ": floor, round " + round);
      double least = floor.perSecond(options);
      rates.add(rate);
      floors.add(least);
      percents.add(100 * rate / least);
      report.figure(Figure.of(scenario, "rate, round " + round, rate, "jobs/s"));
      report.figure(Figure.of(scenario, "floor, round " + round, least, "jobs/s").by("floor"));
    }
    report.figure(Figure.of(scenario, "floor", floors.median(), "jobs/s").by("floor"));
    report.figure(
        Figure.of(scenario, "rate", rates.median(), "jobs/s").held(Bound.atLeast(leastJobs)));
    report.figure(
        Figure.of(scenario, "share of the floor", percents.median(), "%")
            .held(Bound.atLeast(PERCENT_OF_FLOOR)));
  }

  private double round(String scenario, int round, ThroughputRound<?> throughput)
      throws InterruptedException {
    report.progress(scenario + ": round " + round);
    MemoryStore store = new MemoryStore();
    ThroughputRound.Result result = throughput.run(store, crowd, options, carillon -> {});
    report.progress(result.text());
    Map<JobState, Long> counts = Census.of(store);
    report.fact(
        scenario,
        "the store holds %,d ended".formatted(Census.ended(counts)),
        Census.ended(counts) == result.acknowledged());
    return result.perSecond();
  }
}
