package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Jobs lose nothing while nodes come and go, with wrong clocks too. */
class ComingAndGoingTest extends ClusterFixture {
  // ---- nodes that come and go

  /** Time passes, and what starts ends well; returns what ran, by job. */
  private Map<JobId, Integer> passAndRun(Duration time, Map<JobId, Integer> ran) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      pass(STEP);
      running.forEach(world -> finishAll(world, ran));
    }
    return ran;
  }

  private static void finishAll(StillWorld world, Map<JobId, Integer> ran) {
    for (Attempt attempt = world.finishOne(); attempt != null; attempt = world.finishOne()) {
      ran.merge(attempt.id(), 1, Integer::sum);
    }
  }

  @Test
  void recurringJobsReachTheirCountsWhileNodesComeAndGo() {
    List<StillWorld> nodes = new ArrayList<>(List.of(node("a"), node("b"), node("c")));
    pass(Duration.ofSeconds(3));
    Schedule schedule = Schedule.every(Duration.ofSeconds(10)).times(12);
    for (int i = 0; i < 100; i++) {
      StillWorld world = nodes.get(i % 3);
      long first = world.nowMicros() + Micros.ceil(Duration.ofMillis(5000 + 37L * i));
      world.add(world.recurring(schedule, first));
    }
    Map<JobId, Integer> ran = new HashMap<>();
    passAndRun(Duration.ofSeconds(30), ran);
    nodes.add(node("d"));
    nodes.add(node("e"));
    passAndRun(Duration.ofSeconds(30), ran);
    for (StillWorld leaving : List.copyOf(nodes.subList(0, 2))) {
      finishAll(leaving, ran);
      stop(leaving);
      passAndRun(Duration.ofSeconds(20), ran);
    }
    passAndRun(Duration.ofSeconds(60), ran);
    assertThat(ran).hasSize(100);
    assertThat(ran.values()).as("occurrences of each").containsOnly(12);
  }

  @Test
  void everyJobOfACrashedAndReturnedNodeRuns() {
    StillWorld a = node("a");
    node("b");
    node("c");
    pass(Duration.ofSeconds(3));
    Map<JobId, Integer> ran = new HashMap<>();
    List<JobId> all = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 20; i++) {
        all.add(addDueIn(a, Duration.ofMillis(500L * i)).id());
      }
      passAndRun(Duration.ofSeconds(2), ran);
      kill(a);
      passAndRun(Duration.ofSeconds(1 + 2L * round), ran);
      a = node("a");
      passAndRun(Duration.ofSeconds(5), ran);
    }
    passAndRun(Duration.ofSeconds(30), ran);
    assertThat(ran.keySet()).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void wrongWallClocksLoseNothingAndStartNothingEarly() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    a.skew(Duration.ofSeconds(15));
    b.skew(Duration.ofSeconds(-15));
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(20));
    kill(a);
    long due = a.nowMicros() + Micros.ceil(Duration.ofSeconds(20));
    while (b.nowMicros() < due) {
      assertThat(b.running()).isEmpty();
      pass(STEP);
    }
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).hasSize(1);
    b.finishOne();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void jobThatMayHaveKilledItsNodeIsSuspectedAlsoAfterAHandBack() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    assertThat(a.running()).hasSize(1);
    kill(a);
    NodeOptions options = NodeOptions.of("b", ++incarnations).among(RETURNING);
    StillWorld b = new StillWorld(options, store, false);
    b.pass(passed);
    b.settle();
    running.add(b);
    pass(DEAD_WITHIN);
    assertThat(headOf(job).owner()).as("it cannot run it").isEqualTo(options.incarnation());
    StillWorld again = node("a");
    pass(Duration.ofSeconds(3));
    assertThat(headOf(job).owner()).isEqualTo(incarnations);
    assertThat(again.running()).hasSize(1);
    FoldedJob.UncommonState rare = again.running().getFirst().job().rare;
    assertThat(rare).isNotNull();
    assertThat(rare.markers).as("durable before it starts").isEqualTo(1);
  }

  @Test
  void schedulingNeverFailsWhileANodeComesAndGoes() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    for (int i = 0; i < 50; i++) {
      StillWorld flapping = node("flapping");
      pass(Duration.ofMillis(300L * (i % 7)));
      for (int j = 0; j < 100; j++) {
        addDueIn(a, Duration.ofSeconds(20 + j)); // throws where it is refused
      }
      kill(flapping);
    }
    pass(Duration.ofSeconds(10));
    assertThat(a.node().stats().addedTotal()).isEqualTo(5000);
  }
}
