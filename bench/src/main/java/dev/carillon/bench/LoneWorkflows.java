package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.time.Duration;

/** One workflow at a time: how long it takes, beside the group commits that it caused. */
final class LoneWorkflows {
  private static final TaskType<Order> PLACE = TaskType.of("place", Order.class);
  private static final String SCENARIO = "workflow, alone";
  private static final int COMMITS = WorkflowRate.STEPS + 2;
  private static final double MORE_MILLIS = 2;
  private static final int WARM_UPS_A_SAMPLE = 4;
  private static final Duration WITHIN = Duration.ofMinutes(1);

  private final StorePlace place;
  private final Report report;

  LoneWorkflows(StorePlace place, Report report) {
    this.place = place;
    this.report = report;
  }

  void run(int samples) throws InterruptedException {
    report.progress("workflows one at a time");
    CountedStore store = new CountedStore(StorePlace.open(place.newAddress("alone")));
    Samples whole = new Samples();
    Samples commits = new Samples();
    try (Carillon carillon = Carillon.builder().store(store).open()) {
      carillon.workflow(PLACE, (order, wf) -> WorkflowRate.fiveSteps(wf));
      int warmUp = WARM_UPS_A_SAMPLE * samples;
      for (int i = -warmUp; i < samples; i++) {
        CountedStore.Calls before = store.calls();
        long start = System.nanoTime();
        var unused = carillon.schedule(PLACE.job(Order.of(i + warmUp))).result(WITHIN);
        long nanos = System.nanoTime() - start;
        CountedStore.Calls calls = store.calls().since(before);
        if (i >= 0) {
          whole.add(nanos);
          commits.add(calls.appendNanos() / Math.max(1, calls.groups()));
        }
      }
    }
    double commit = commits.percentile(50) / 1e6;
    report.figure(Figure.of(SCENARIO, "a group commit, p50", commit, "ms"));
    report.figure(
        Figure.of(SCENARIO, "scheduled to result, p50", whole.percentile(50) / 1e6, "ms")
            .held(Bound.atMost(COMMITS * commit + MORE_MILLIS)));
    report.figure(
        Figure.of(SCENARIO, "scheduled to result, p99", whole.percentile(99) / 1e6, "ms"));
  }
}
