package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.time.Duration;

/** One workflow of many steps: whether the last take longer than the first. */
final class LongWorkflow {
  /** So many of the first steps are held against so many of the last. */
  static final int PART = 200;

  private static final TaskType<Integer> LONG = TaskType.of("long", Integer.class);
  private static final String SCENARIO = "workflow, long";
  private static final double MOST_TIMES = 1.2;
  private static final Duration WITHIN = Duration.ofMinutes(5);

  private final StorePlace place;
  private final Report report;
  private final int steps;

  LongWorkflow(StorePlace place, Report report, int steps) {
    this.place = place;
    this.report = report;
    this.steps = steps;
  }

  void run(int rounds) throws InterruptedException {
    Rounds firsts = new Rounds();
    Rounds ratios = new Rounds();
    long[] ends = new long[steps + 1];
    try (Carillon carillon = Carillon.open(place.newAddress("long"))) {
      carillon.workflow(
          LONG,
          (number, wf) -> {
            ends[0] = System.nanoTime();
            for (int i = 1; i <= steps; i++) {
              wf.step("step", () -> {});
              ends[i] = System.nanoTime();
            }
          });
      for (int round = 0; round <= rounds; round++) { // one to warm up
        report.progress("%,d steps in one workflow".formatted(steps));
        var unused = carillon.schedule(LONG.job(round)).result(WITHIN);
        double first = median(ends, 0);
        double last = median(ends, steps - PART);
        if (round > 0) {
          firsts.add(first);
          ratios.add(last / first);
        }
      }
    }
    report.figure(Figure.of(SCENARIO, "a step, of the first " + PART, firsts.median(), "ms"));
    report.figure(
        Figure.of(SCENARIO, "the last " + PART + ", of the first", ratios.median(), "times")
            .held(Bound.atMost(MOST_TIMES)));
  }

  private static double median(long[] ends, int from) {
    Samples samples = new Samples();
    for (int i = from; i < from + PART; i++) {
      samples.add(ends[i + 1] - ends[i]);
    }
    return samples.percentile(50) / 1e6;
  }
}
