package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.JobHandle;
import dev.carillon.api.TaskType;
import dev.carillon.api.workflow.Workflow;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/**
 * One workflow of many steps: whether the last take longer than the first.
 *
 * <p>The last steps of it are made in turn with the first ones of another, one of each at a time.
 * So both see the same machine, as warm and as busy: what is left is what the history costs.
 */
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

  /** Steps that are timed, in turn with those of another workflow. */
  private static final class Timed {
    final Samples nanos = new Samples();
    final Semaphore mine;
    final Semaphore next;

    Timed(Semaphore mine, Semaphore next) {
      this.mine = mine;
      this.next = next;
    }

    void step(Workflow wf) {
      long[] own = {System.nanoTime()};
      wf.step(
          "step",
          () -> {
            long before = own[0] - System.nanoTime(); // what the call took so far, below zero
            mine.acquire();
            own[0] = System.nanoTime() + before;
          });
      nanos.add(System.nanoTime() - own[0]);
      next.release();
    }

    double medianMillis() {
      return nanos.percentile(50) / 1e6;
    }
  }

  /** Two workflows: the steps of {@code last} come in turn with those of {@code first}. */
  private static final class Pair {
    private final Semaphore lastMay = new Semaphore(1);
    private final Semaphore firstMay = new Semaphore(0);
    final Timed last = new Timed(lastMay, firstMay);
    final Timed first = new Timed(firstMay, lastMay);
    final Semaphore grown = new Semaphore(0);
  }

  void run(int rounds) throws InterruptedException {
    Rounds firsts = new Rounds();
    Rounds ratios = new Rounds();
    Pair[] pair = new Pair[1];
    try (Carillon carillon = Carillon.open(place.newAddress("long"))) {
      carillon.workflow(LONG, (untimed, wf) -> run(pair[0], untimed, wf));
      for (int round = 0; round <= rounds; round++) { // one to warm up
        report.progress("%,d steps in one workflow".formatted(steps));
        pair[0] = new Pair();
        JobHandle<?> grown = carillon.schedule(LONG.job(steps - PART));
        pair[0].grown.acquire();
        var unusedFirst = carillon.schedule(LONG.job(0)).result(WITHIN);
        var unusedLast = grown.result(WITHIN);
        double first = pair[0].first.medianMillis();
        if (round > 0) {
          firsts.add(first);
          ratios.add(pair[0].last.medianMillis() / first);
        }
      }
    }
    report.figure(Figure.of(SCENARIO, "a step, of the first " + PART, firsts.median(), "ms"));
    report.figure(
        Figure.of(SCENARIO, "the last " + PART + ", of the first", ratios.median(), "times")
            .held(Bound.atMost(MOST_TIMES)));
  }

  private static void run(Pair pair, int untimed, Workflow wf) {
    for (int i = 0; i < untimed; i++) {
      wf.step("step", () -> {});
    }
    Timed timed = untimed == 0 ? pair.first : pair.last;
    pair.grown.release();
    for (int i = 0; i < PART; i++) {
      timed.step(wf);
    }
  }
}
