package dev.carillon.bench;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import dev.carillon.api.workflow.Workflow;

/**
 * Workflows of five steps and plain jobs, a round of each in turn, so that both meet the same
 * machine. A workflow is seven durable operations: added, five steps, ended; a plain job is two.
 */
final class WorkflowRate {
  static final int STEPS = 5;

  private static final TaskType<Order> PLACE = TaskType.of("place", Order.class);
  private static final String SCENARIO = "workflow";
  private static final int OPERATIONS = STEPS + 2;
  private static final int PLAIN_OPERATIONS = 2;

  private final RunOptions options;
  private final Producers.Crowd crowd;
  private final PayloadCodec codec;
  private final StorePlace place;
  private final Report report;

  WorkflowRate(
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

  void run() throws InterruptedException {
    Rounds rates = new Rounds();
    Rounds plainRates = new Rounds();
    Rounds shares = new Rounds();
    Rounds raws = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      // Whoever goes second finds the machine as the other left it: that changes each round.
      boolean plainFirst = round % 2 == 1;
      ThroughputRound.Result first = round(round, plainFirst);
      ThroughputRound.Result second = round(round, !plainFirst);
      ThroughputRound.Result plain = plainFirst ? first : second;
      ThroughputRound.Result workflows = plainFirst ? second : first;
      rates.add(workflows.perSecond());
      plainRates.add(plain.perSecond());
      shares.add(
          100 * (OPERATIONS * workflows.perSecond()) / (PLAIN_OPERATIONS * plain.perSecond()));
      raws.add(100 * workflows.perSecond() / raw(workflows));
    }
    boolean file = options.store == RunOptions.Kind.SQLITE;
    figure("plain jobs", plainRates.median(), "jobs/s");
    figure("plain jobs, durable operations", PLAIN_OPERATIONS * plainRates.median(), "ops/s");
    report.figure(
        Figure.of(SCENARIO, "rate", rates.median(), "workflows/s")
            .held(Bound.atLeast(file ? 25_000 : 20_000)));
    figure("durable operations", OPERATIONS * rates.median(), "ops/s");
    report.figure(
        Figure.of(SCENARIO, "operations, of those of plain jobs", shares.median(), "%")
            .held(Bound.atLeast(file ? 30 : 20)));
    figure("share of the raw rate", raws.median(), "%");
  }

  private void figure(String metric, double value, String unit) {
    report.figure(Figure.of(SCENARIO, metric, value, unit));
  }

  private ThroughputRound.Result round(int round, boolean plain) throws InterruptedException {
    String what = plain ? "plain jobs" : "workflows";
    report.progress(what + ": round " + round);
    String address = place.newAddress("workflow");
    ThroughputRound.Result result =
        (plain ? plain() : workflows())
            .run(StorePlace.open(address), crowd, options, carillon -> {});
    long groups = Math.max(1, result.calls().groups());
    report.progress(
        "%s, %.0f bytes each, %,d group commits of %,d bytes, %.1f ms each"
            .formatted(
                result.text(),
                result.bytesPerJob(),
                groups,
                result.calls().bytes() / groups,
                result.calls().appendNanos() / 1e6 / groups));
    String unit = plain ? "jobs/s" : "workflows/s";
    String each = plain ? "plain job" : "workflow";
    figure(what + ", round " + round, result.perSecond(), unit);
    figure("CPU, each " + each + ", round " + round, result.cpuMicrosPerJob(), "µs");
    CensusCommand.Counted counted = CensusCommand.inFreshProcess(address);
    report.fact(
        SCENARIO,
        "a fresh process finds %,d ended".formatted(counted.ended()),
        counted.ended() == result.acknowledged());
    place.remove(address);
    return result;
  }

  private ThroughputRound plain() {
    return ThroughputRound.noOp(
        StoreThroughput.ORDER, codec, number -> StoreThroughput.ORDER.job(Order.of(number)));
  }

  private ThroughputRound workflows() {
    return new ThroughputRound(
        (carillon, ran) ->
            carillon.workflow(
                PLACE,
                (order, wf) -> {
                  fiveSteps(wf);
                  ran.run();
                }),
        WarmUp.JOBS / STEPS,
        codec,
        number -> PLACE.job(Order.of(number)));
  }

  static void fiveSteps(Workflow wf) {
    wf.step("reserve", () -> {});
    wf.step("charge", () -> {});
    wf.step("pack", () -> {});
    wf.step("ship", () -> {});
    wf.step("tell", () -> {});
  }

  /** The same bytes in groups of the same size. */
  private double raw(ThroughputRound.Result result) {
    RawShape shape = RawShape.of(result.calls());
    return place.rawBytesPerSecond(shape, 1, options.seconds) / result.bytesPerJob();
  }
}
