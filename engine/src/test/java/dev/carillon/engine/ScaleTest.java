package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Many nodes, and nodes that come and go. */
class ScaleTest {
  private static final Duration STEP = Duration.ofMillis(100);
  private static final Duration SETTLED = Duration.ofSeconds(4);

  private final StillFleet fleet = new StillFleet(STEP);

  private List<StillWorld> nodes(int from, int to) {
    List<StillWorld> nodes = new ArrayList<>();
    for (int i = from; i < to; i++) {
      nodes.add(fleet.node("node-" + i));
    }
    return nodes;
  }

  private static JobRef addDueIn(StillWorld world, Duration delay) {
    return world.add(world.spec(world.nowMicros() + Micros.ceil(delay), 0, 0, new byte[0]));
  }

  @Test
  void aHundredJobsOnAHundredNodesRunOnceEach() {
    List<JobRef> jobs = new ArrayList<>();
    for (StillWorld node : nodes(0, 100)) {
      jobs.add(addDueIn(node, Duration.ofSeconds(5)));
    }
    assertThat(fleet.work(Duration.ofSeconds(8))).isEqualTo(100);
    assertThat(jobs).allMatch(job -> fleet.stateOf(job) == JobState.SUCCEEDED);
  }

  @Test
  void recurringJobsReachTheirCountsWhileNodesComeAndGo() {
    int times = 20;
    List<JobRef> jobs = new ArrayList<>();
    List<StillWorld> nodes = nodes(0, 3);
    fleet.pass(SETTLED);
    Schedule schedule = Schedule.every(Duration.ofSeconds(2)).times(times);
    for (int i = 0; i < 100; i++) {
      StillWorld node = nodes.get(i % nodes.size());
      jobs.add(node.add(node.recurring(schedule, node.nowMicros() + Micros.ceil(SETTLED))));
    }
    int ran = fleet.work(Duration.ofSeconds(12));
    List<StillWorld> more = nodes(3, 5);
    ran += fleet.work(Duration.ofSeconds(12));
    ran += fleet.stop(nodes.getFirst());
    ran += fleet.work(Duration.ofSeconds(6));
    ran += fleet.stop(more.getFirst());
    ran += fleet.work(Duration.ofMinutes(1));
    assertThat(jobs).allMatch(job -> fleet.stateOf(job) == JobState.SUCCEEDED);
    assertThat(ran).isEqualTo(100 * times);
  }

  @Test
  void schedulingDoesNotFailWhileAMemberFlaps() {
    StillWorld steady = fleet.node("steady");
    fleet.pass(SETTLED);
    List<JobRef> jobs = new ArrayList<>();
    for (int flap = 0; flap < 10; flap++) {
      StillWorld flapping = fleet.node("flapping");
      for (int i = 0; i < 250; i++) {
        jobs.add(addDueIn(steady, Duration.ofHours(1)));
      }
      fleet.pass(Duration.ofSeconds(1));
      fleet.kill(flapping);
      for (int i = 0; i < 250; i++) {
        jobs.add(addDueIn(steady, Duration.ofHours(1)));
      }
      fleet.pass(flap % 2 == 0 ? Duration.ofSeconds(1) : StillFleet.DEAD_WITHIN);
    }
    assertThat(jobs).hasSize(5_000).doesNotHaveDuplicates();
    assertThat(jobs.subList(0, 20)).allMatch(job -> fleet.stateOf(job) == JobState.SCHEDULED);
  }

  @Test
  void theWaitForARetrySurvivesTheLossOfItsNode() {
    StillWorld a = fleet.node("a");
    StillWorld b = fleet.node("b");
    fleet.pass(SETTLED);
    JobRef job = addDueIn(a, Duration.ZERO);
    fleet.pass(STEP);
    a.finishOne(
        new AttemptOutcome.Failed(
            new JobError("x", "fails", ""),
            new AttemptOutcome.Verdict.RetryAt(a.nowMicros() + 20_000_000)));
    fleet.kill(a);
    fleet.pass(Duration.ofSeconds(19));
    assertThat(b.running()).as("before its time").isEmpty();
    fleet.pass(Duration.ofSeconds(2));
    assertThat(b.running()).hasSize(1);
    assertThat(b.running().getFirst().number()).isEqualTo(2);
    b.finishOne();
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void tenRollingRestartsMakeNoJobASuspect() {
    List<StillWorld> nodes = nodes(0, 3);
    fleet.pass(SETTLED);
    List<JobRef> lasting = new ArrayList<>();
    for (StillWorld node : nodes) {
      lasting.add(addDueIn(node, Duration.ZERO)); // runs at every restart, and does not end
      lasting.add(addDueIn(node, Duration.ofHours(1)));
    }
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < nodes.size(); i++) {
        fleet.stopShort(nodes.get(i));
        fleet.pass(Duration.ofSeconds(1));
        nodes.set(i, fleet.node("node-" + i));
        fleet.pass(SETTLED);
      }
    }
    List<Attempt> running = nodes.stream().flatMap(node -> node.running().stream()).toList();
    assertThat(running).hasSize(3).allMatch(attempt -> attempt.number() == 1);
    assertThat(running).allMatch(attempt -> attempt.job().rare == null);
    fleet.work(Duration.ofHours(1));
    assertThat(lasting).allMatch(job -> fleet.stateOf(job) == JobState.SUCCEEDED);
  }

  /** What the nodes ask of the store in a minute in which so many jobs a step start and end. */
  private List<Integer> asked(List<StillWorld> nodes, int jobsAStep) {
    int reads = -nodes.stream().mapToInt(StillWorld::reads).sum();
    int records = -nodes.stream().mapToInt(StillWorld::recordCalls).sum();
    int ran = 0;
    for (int step = 0; step < 600; step++) {
      for (int i = 0; i < jobsAStep; i++) {
        addDueIn(nodes.get(i % nodes.size()), Duration.ZERO);
      }
      ran += fleet.work(STEP);
    }
    assertThat(ran).isEqualTo(600 * jobsAStep);
    reads += nodes.stream().mapToInt(StillWorld::reads).sum();
    records += nodes.stream().mapToInt(StillWorld::recordCalls).sum();
    return List.of(reads, records);
  }

  @Test
  void nodesReadAsMuchHoweverManyJobsRun() {
    List<StillWorld> nodes = nodes(0, 3);
    fleet.pass(SETTLED);
    asked(nodes, 3); // each has its shard
    List<Integer> few = asked(nodes, 3);
    List<Integer> many = asked(nodes, 30);
    assertThat(many).isEqualTo(few);
  }
}
