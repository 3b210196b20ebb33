package dev.carillon.bench;

/** The throughput scenarios in memory, beside a floor of the same codec and threads. */
final class MemoryThroughput {
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

  void json() {
    measure(MemoryRoundCommand.Payload.JSON, JSON_JOBS);
  }

  void bytes() {
    measure(MemoryRoundCommand.Payload.BYTES, BYTES_JOBS);
  }

  private void measure(MemoryRoundCommand.Payload payload, double leastJobs) {
    String scenario = "throughput, " + payload.word();
    report.setting("codec", payload.codec().name());
    Rounds rates = new Rounds();
    Rounds floors = new Rounds();
    Rounds percents = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      report.progress(scenario + ": round " + round + " and its floor, in a fresh process");
      var found = MemoryRoundCommand.inFreshProcess(payload, options, crowd);
      rates.add(found.perSecond());
      floors.add(found.floorPerSecond());
      percents.add(100 * found.perSecond() / found.floorPerSecond());
      report.figure(Figure.of(scenario, "rate, round " + round, found.perSecond(), "jobs/s"));
      report.figure(
          Figure.of(scenario, "floor, round " + round, found.floorPerSecond(), "jobs/s")
              .by("floor"));
      report.fact(
          scenario,
          "the store holds %,d ended".formatted(found.ended()),
          found.ended() == found.acknowledged());
    }
    report.figure(Figure.of(scenario, "floor", floors.median(), "jobs/s").by("floor"));
    report.figure(
        Figure.of(scenario, "rate", rates.median(), "jobs/s").held(Bound.atLeast(leastJobs)));
    report.figure(
        Figure.of(scenario, "share of the floor", percents.median(), "%")
            .held(Bound.atLeast(PERCENT_OF_FLOOR)));
  }
}
