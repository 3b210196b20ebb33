package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Overdue jobs that do not fit in memory with what they carry. */
@Timeout(60)
class BacklogTest {
  private static final Duration OUTAGE = Duration.ofHours(3);
  private static final int PAYLOAD_BYTES = 100;
  private static final int BUDGET_BYTES = 4_000;

  /** What one job more or less, and the one that runs, may add to the budget. */
  private static final int SLACK_BYTES = 1_000;

  @Test
  void runsInOrderWithFewBodiesInMemory() {
    StillWorld world = new StillWorld(options(1, 32 << 20));
    List<Long> dues = addAll(world, 400);
    world.restart(options(2, BUDGET_BYTES), OUTAGE);
    long most = world.node().residentBytes();
    List<Long> started = new ArrayList<>();
    for (Attempt attempt = world.finishOne(); attempt != null; attempt = world.finishOne()) {
      started.add(attempt.spec().dueMicros());
      most = Math.max(most, world.node().residentBytes());
    }
    assertThat(most).isBetween(1L, (long) BUDGET_BYTES + SLACK_BYTES);
    List<Long> first = started.subList(0, 1); // before all the others were read
    dues.removeAll(first);
    assertThat(started.subList(1, started.size())).isEqualTo(dues);
    assertThat(world.reports()).isEmpty();
    assertThat(world.node().residentBytes()).isZero();
  }

  @Test
  void jobLargerThanTheFrontOfItsLineIsReadOnce() {
    StillWorld world = new StillWorld(options(1, 32 << 20));
    long first = world.nowMicros() + Micros.PER_SECOND * 3600;
    int large = BUDGET_BYTES / 2;
    int[] payloads = {10, PAYLOAD_BYTES, PAYLOAD_BYTES, large, PAYLOAD_BYTES};
    List<Long> dues = new ArrayList<>();
    for (int i = 0; i < payloads.length; i++) {
      dues.add(first + i * Micros.PER_SECOND);
      world.add(world.spec(dues.get(i), 0, 0, new byte[payloads[i]]));
    }
    // The payload of a job with a name stays in memory, so that there is room for no other.
    dues.add(first + Micros.PER_SECOND * 60);
    world.add(world.named("keeps its payload", dues.getLast(), new byte[2 * BUDGET_BYTES]));
    world.restart(options(2, BUDGET_BYTES), OUTAGE);
    int before = world.reads();
    List<Long> started = new ArrayList<>();
    for (Attempt attempt = world.finishOne(); attempt != null; attempt = world.finishOne()) {
      started.add(attempt.spec().dueMicros());
    }
    assertThat(started).isEqualTo(dues);
    assertThat(world.reads() - before).isLessThanOrEqualTo(payloads.length);
  }

  @Test
  void urgentOneOvertakesWhatStandsInLine() {
    StillWorld world = new StillWorld(options(1, 32 << 20));
    addAll(world, 200);
    world.restart(options(2, BUDGET_BYTES), OUTAGE);
    long due = world.nowMicros() - Micros.PER_SECOND * 60;
    world.add(world.spec(due, 9, 0, new byte[PAYLOAD_BYTES]));
    world.finishOne();
    assertThat(world.finishOne().spec().priority()).isEqualTo(9);
  }

  @Test
  void cancelsAndDeadlinesReachWhatStandsInLine() {
    StillWorld world = new StillWorld(options(1, 32 << 20));
    addAll(world, 200);
    long deadline = world.nowMicros() + Micros.ceil(OUTAGE) + Micros.PER_SECOND * 60;
    long due = world.nowMicros() + Micros.PER_SECOND * 3600 * 2;
    JobRef expires = world.add(world.spec(due, 0, deadline, new byte[PAYLOAD_BYTES]));
    JobRef goes = world.add(world.spec(due, 0, 0, new byte[PAYLOAD_BYTES]));
    world.restart(options(2, BUDGET_BYTES), OUTAGE);
    assertThat(world.node().residentBytes()).isLessThan(BUDGET_BYTES + SLACK_BYTES);
    assertThat(state(world, goes)).isEqualTo(JobState.READY);
    List<CancelResult> answers = new ArrayList<>();
    world.cancel(goes, "", outcome -> answers.add(value(outcome)));
    world.pass(Duration.ofSeconds(61));
    world.settle();
    assertThat(answers).containsExactly(new CancelResult.Cancelled());
    assertThat(state(world, goes)).isEqualTo(JobState.CANCELLED);
    assertThat(state(world, expires)).isEqualTo(JobState.EXPIRED);
    int started = 0;
    while (world.finishOne() != null) {
      started++;
    }
    assertThat(started).isEqualTo(200);
  }

  @Test
  void jobWhoseBodyIsElsewhereIsNotMovedBeyondItsDeadline() {
    StillWorld world = new StillWorld(options(1, 10));
    long due = world.nowMicros() + Micros.PER_SECOND * 7200;
    long deadline = due + Micros.PER_SECOND * 60;
    JobRef job = world.add(world.spec(due, 0, deadline, new byte[PAYLOAD_BYTES]));
    List<ControlResult> answers = new ArrayList<>();
    long later = deadline + Micros.PER_SECOND * 3600;
    world.reschedule(job, later, outcome -> answers.add(value(outcome)));
    world.settle();
    assertThat(answers).containsExactly(ControlResult.DONE);
    world.pass(Duration.ofMinutes(121));
    world.settle();
    assertThat(state(world, job)).isEqualTo(JobState.EXPIRED);
  }

  @Test
  void crowdWhoseOutcomesWaitForTheStoreDoesNotHoldUpAnotherLane() {
    StillWorld world = new StillWorld(options(1, 32 << 20));
    for (int i = 0; i < 40; i++) {
      world.add(world.spec(world.nowMicros() + 1, 0, 0, new byte[1]));
    }
    world.add(world.spec("other", world.nowMicros() + 2, 0, 0, new byte[1]));
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.pass(Duration.ofSeconds(1));
    world.settle();
    List<String> started = new ArrayList<>();
    for (Attempt attempt = world.finishOne(); attempt != null; attempt = world.finishOne()) {
      started.add(attempt.spec().namespace());
    }
    assertThat(started).hasSize(17).contains("other");
  }

  @Test
  void jobThatIsResumedWhileItWaitsForASlotStandsInLineOnce() {
    StillWorld world = new StillWorld(options(1, BUDGET_BYTES));
    world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    JobRef waits = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    List<ControlResult> answers = new ArrayList<>();
    world.resume(waits, outcome -> answers.add(value(outcome)));
    world.settle();
    assertThat(answers).containsExactly(ControlResult.DONE);
    assertThat(world.node().stats().ready()).isEqualTo(1);
  }

  private static JobState state(StillWorld world, JobRef job) {
    List<JobState> states = new ArrayList<>();
    world.node().get(job, outcome -> states.add(value(outcome).orElseThrow().info().state()));
    world.settle();
    return states.getFirst();
  }

  private static <T> T value(Outcome<T> outcome) {
    assertThat(outcome).isInstanceOf(Outcome.Ok.class);
    return ((Outcome.Ok<T>) outcome).value();
  }

  /** Adds jobs in no order over several shards; their due times in the order they must start. */
  private static List<Long> addAll(StillWorld world, int jobs) {
    Random random = new Random(4);
    Map<Long, Integer> priorities = new HashMap<>();
    long start = world.nowMicros() + Micros.PER_SECOND * 3600;
    while (priorities.size() < jobs) {
      long due = start + random.nextInt(3600) * Micros.PER_SECOND;
      int priority = random.nextInt(3);
      if (priorities.putIfAbsent(due, priority) == null) {
        world.add(world.spec(due, priority, 0, new byte[PAYLOAD_BYTES]));
      }
    }
    List<Long> dues = new ArrayList<>(priorities.keySet());
    dues.sort(Comparator.<Long>comparingInt(due -> -priorities.get(due)).thenComparing(due -> due));
    return dues;
  }

  /** One attempt at a time, shards of fifty jobs. */
  private static NodeOptions options(long incarnation, long budgetBytes) {
    NodeOptions defaults = NodeOptions.of("node", incarnation);
    return new NodeOptions(
        "node",
        incarnation,
        1,
        Duration.ZERO,
        defaults.loadHorizon(),
        defaults.overdueAfter(),
        defaults.aloneTime(),
        defaults.successRetention(),
        defaults.failureRetention(),
        defaults.deadRetention(),
        defaults.keyRetention(),
        defaults.maxQueued(),
        defaults.maxQueuedBytes(),
        50,
        defaults.maxShardBytes(),
        budgetBytes,
        defaults.failurePolicy(),
        defaults.packFromJobs(),
        defaults.historyBytes(),
        defaults.indexedMetadata(),
        defaults.historyLimit(),
        defaults.membership());
  }
}
