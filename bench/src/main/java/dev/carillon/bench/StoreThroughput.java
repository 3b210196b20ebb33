package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/** The throughput scenarios on a durable store, wherever that is. */
final class StoreThroughput {
  static final TaskType<Order> ORDER = TaskType.of("order", Order.class);

  private static final double PLAIN_JOBS = 250_000;
  private static final double PLAIN_PERCENT_OF_RAW = 25;
  private static final double NAMED_JOBS = 60_000;
  private static final int NAMES_A_BATCH = 1_000;
  private static final Duration FAR = Duration.ofDays(30);

  private final RunOptions options;
  private final Producers.Crowd crowd;
  private final PayloadCodec codec;
  private final StorePlace place;
  private final Report report;

  StoreThroughput(
      RunOptions options,
      Producers.Crowd crowd,
      PayloadCodec codec,
      StorePlace place,
      Report report) {
    this.options = options;
    this.crowd = crowd;
    this.codec = codec;
    this.place = place;
    this.report = report;
  }

  void plain() throws InterruptedException {
    String scenario = "throughput";
    Rounds rates = new Rounds();
    Rounds raws = new Rounds();
    Rounds percents = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      ThroughputRound.Result result =
          round(scenario, round, number -> ORDER.job(Order.of(number)), carillon -> {});
      double raw = raw(result);
      rates.add(result.perSecond());
      raws.add(raw);
      percents.add(100 * result.perSecond() / raw);
      printRound(scenario, round, result);
      report.figure(
          Figure.of(scenario, "raw rate, round " + round, raw, "jobs/s").by(options.store.word()));
    }
    report.figure(
        Figure.of(scenario, "raw rate", raws.median(), "jobs/s").by(options.store.word()));
    report.figure(rate(scenario, rates.median(), PLAIN_JOBS));
    report.figure(
        Figure.of(scenario, "share of the raw rate", percents.median(), "%")
            .held(Bound.atLeast(PLAIN_PERCENT_OF_RAW)));
  }

  /** Held against a number of jobs on a file; a server is held against its own raw rate only. */
  private Figure rate(String scenario, double rate, double leastOnFile) {
    Figure figure = Figure.of(scenario, "rate", rate, "jobs/s");
    return options.store == RunOptions.Kind.SQLITE
        ? figure.held(Bound.atLeast(leastOnFile))
        : figure;
  }

  private void printRound(String scenario, int round, ThroughputRound.Result result) {
    report.figure(Figure.of(scenario, "rate, round " + round, result.perSecond(), "jobs/s"));
    report.figure(
        Figure.of(scenario, "CPU, each job, round " + round, result.cpuMicrosPerJob(), "µs"));
  }

  /** The same bytes in groups of the same size. */
  private double raw(ThroughputRound.Result result) {
    RawShape shape = RawShape.of(result.calls());
    report.progress(
        "raw rate: groups of %,d × %,d bytes, %.0f bytes a job"
            .formatted(shape.entries(), shape.entryBytes(), result.bytesPerJob()));
    return place.rawBytesPerSecond(shape, 1, options.seconds) / result.bytesPerJob();
  }

  void named() throws InterruptedException {
    String scenario = "throughput, names";
    report.figure(rate(scenario, named(scenario, options.rounds, carillon -> {}), NAMED_JOBS));
  }

  void crowded(int others) throws InterruptedException {
    String scenario = "throughput, %,d names".formatted(others);
    double rate = named(scenario, 1, carillon -> scheduleNamed(carillon, others));
    report.figure(Figure.of(scenario, "rate", rate, "jobs/s"));
  }

  private double named(String scenario, int rounds, Consumer<Carillon> before)
      throws InterruptedException {
    Rounds rates = new Rounds();
    for (int round = 1; round <= rounds; round++) {
      LongFunction<Job<Void>> jobs = number -> ORDER.job(Order.of(number)).named(randomName());
      ThroughputRound.Result result = round(scenario, round, jobs, before);
      rates.add(result.perSecond());
      printRound(scenario, round, result);
    }
    return rates.median();
  }

  private static String randomName() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return "order-" + Long.toHexString(random.nextLong()) + Integer.toHexString(random.nextInt());
  }

  private void scheduleNamed(Carillon carillon, int others) {
    report.progress("scheduling %,d named jobs for later".formatted(others));
    Instant due = Instant.now().plus(FAR);
    for (int from = 0; from < others; from += NAMES_A_BATCH) {
      List<Job<?>> batch = new ArrayList<>();
      for (int i = from; i < Math.min(others, from + NAMES_A_BATCH); i++) {
        batch.add(ORDER.job(Order.of(i)).named(randomName()).at(due));
      }
      var unused = carillon.scheduleAll(batch);
    }
  }

  /** Runs a round and has a fresh process count what it left. */
  private ThroughputRound.Result round(
      String scenario, int round, LongFunction<Job<Void>> jobs, Consumer<Carillon> before)
      throws InterruptedException {
    report.progress(scenario + ": round " + round);
    String address = place.newAddress("store");
    var result =
        ThroughputRound.noOp(ORDER, codec, jobs)
            .run(StorePlace.open(address), crowd, options, before);
    long groups = Math.max(1, result.calls().groups());
    report.progress(
        "%s, %,d group commits of %,d bytes, %.1f ms each, under way %.0f %% of the time"
            .formatted(
                result.text(),
                groups,
                result.calls().bytes() / groups,
                result.calls().appendNanos() / 1e6 / groups,
                100 * result.calls().appendNanos() / 1e9 / options.seconds));
    CensusCommand.Counted counted = CensusCommand.inFreshProcess(address);
    report.fact(
        scenario,
        "a fresh process finds %,d ended".formatted(counted.ended()),
        counted.ended() == result.acknowledged());
    place.remove(address);
    return result;
  }

  void scattered() throws InterruptedException {
    String scenario = "enqueue over 30 days";
    report.progress(scenario);
    String address = place.newAddress("store");
    Instant now = Instant.now();
    LongFunction<Job<Void>> jobs =
        number -> {
          long ahead = ThreadLocalRandom.current().nextLong(3600, FAR.toSeconds());
          return ORDER.job(Order.of(number)).at(now.plusSeconds(ahead));
        };
    long acknowledged;
    double rate;
    try (Carillon carillon =
        Carillon.builder().store(StorePlace.open(address)).codec(codec).open()) {
      carillon.handle(ORDER, (order, job) -> {});
      Enqueue enqueue = Enqueue.measure(carillon, jobs, crowd, options);
      acknowledged = enqueue.acknowledged();
      rate = enqueue.perSecond();
    }
    report.figure(Figure.of(scenario, "rate of scheduling", rate, "jobs/s"));
    CensusCommand.Counted counted = CensusCommand.inFreshProcess(address);
    report.fact(
        scenario,
        "a fresh process finds %,d jobs".formatted(counted.all()),
        counted.all() == acknowledged);
    place.remove(address);
  }
}
