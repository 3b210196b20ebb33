package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.JobId;
import dev.carillon.api.TaskType;
import dev.carillon.api.workflow.SignalType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * How fast workflows whose threads are gone come back: from the first signal that ends a wait until
 * the code of the last is behind it. Their histories are read from the store meanwhile.
 */
final class ReplayRate {
  private static final TaskType<Integer> WAITING = TaskType.of("waiting", Integer.class);
  private static final SignalType<String> GO = SignalType.of("go", String.class);
  private static final String SCENARIO = "workflow, replay";
  private static final double LEAST_ENTRIES = 100_000;
  private static final int WORKFLOWS = 200;
  private static final int STEPS = 500;

  /** Begun, the steps, the signal awaited and the signal. */
  private static final int ENTRIES = STEPS + 3;

  private static final int SECONDS_AT_MOST = 120;

  private final StorePlace place;
  private final Report report;
  private final LongAdder waiting = new LongAdder();
  private final LongAdder begun = new LongAdder();
  private final LongAdder passed = new LongAdder();

  ReplayRate(StorePlace place, Report report) {
    this.place = place;
    this.report = report;
  }

  void run(int rounds) throws InterruptedException {
    Rounds rates = new Rounds();
    boolean all = true;
    try (Carillon carillon =
        Carillon.builder()
            .url(place.newAddress("replay"))
            .advanced(advanced -> advanced.parkedWorkflows(1))
            .open()) {
      register(carillon);
      for (int round = 0; round <= rounds; round++) { // one to warm up
        report.progress("%,d workflows with %,d entries each".formatted(WORKFLOWS, ENTRIES));
        double rate = round(carillon);
        all &= begun.sum() >= 2 * WORKFLOWS - 1; // one may stay parked
        if (round > 0) {
          rates.add(rate);
        }
      }
    }
    report.figure(
        Figure.of(SCENARIO, "replay rate", rates.median(), "entries/s")
            .held(Bound.atLeast(LEAST_ENTRIES)));
    report.fact(SCENARIO, "every workflow ran again from its beginning", all);
  }

  private void register(Carillon carillon) {
    carillon.workflow(
        WAITING,
        (number, wf) -> {
          begun.increment();
          for (int i = 0; i < STEPS; i++) {
            int step = i;
            var unused = wf.step("step", Integer.class, () -> step);
          }
          waiting.increment();
          var unused = wf.await(GO);
          passed.increment();
        });
  }

  private double round(Carillon carillon) throws InterruptedException {
    waiting.reset();
    begun.reset();
    passed.reset();
    List<JobId> ids = new ArrayList<>();
    for (int i = 0; i < WORKFLOWS; i++) {
      ids.add(carillon.schedule(WAITING.job(i)).id());
    }
    LatenessLog.await(
        "the waits of the workflows",
        () -> waiting.sum() >= WORKFLOWS && carillon.node().stats().running() == 0,
        SECONDS_AT_MOST);
    long start = System.nanoTime();
    for (JobId id : ids) {
      Thread.startVirtualThread(() -> carillon.signal(id, GO, "go"));
    }
    LatenessLog.await(
        "the replay of the workflows", () -> passed.sum() >= WORKFLOWS, SECONDS_AT_MOST);
    return ENTRIES * WORKFLOWS * 1e9 / Math.max(1, System.nanoTime() - start);
  }
}
