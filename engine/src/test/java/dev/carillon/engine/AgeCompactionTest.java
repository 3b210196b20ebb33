package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.HistoryLimit;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A shard in which a job lives on, rewritten because some of its history is past its retention. */
class AgeCompactionTest {
  private static final Duration DEAD_RETENTION = Duration.ofDays(1);

  /** Whether journals cannot be read. */
  private boolean unreadable;

  /** Whether older generations cannot be dropped. */
  private boolean undroppable;

  private final List<ForwardingStore.Operation> operations = new ArrayList<>();

  private final Store store = new FaultyStore(new MemoryStore(), this::fault);

  private StillWorld world = new StillWorld(options(1), store);

  private FaultyStore.Fault fault(ForwardingStore.Operation operation) {
    operations.add(operation);
    boolean fails =
        switch (operation) {
          case READ -> unreadable;
          case DROP_GENERATIONS -> undroppable;
          default -> false;
        };
    return fails ? FaultyStore.Fault.FAIL_BEFORE : FaultyStore.Fault.NONE;
  }

  private static NodeOptions options(long incarnation) {
    NodeOptions defaults = NodeOptions.of("node", incarnation);
    return new NodeOptions(
        defaults.nodeId(),
        defaults.incarnation(),
        defaults.slots(),
        Duration.ZERO,
        defaults.loadHorizon(),
        defaults.overdueAfter(),
        defaults.aloneTime(),
        defaults.successRetention(),
        defaults.failureRetention(),
        DEAD_RETENTION,
        defaults.keyRetention(),
        defaults.maxQueued(),
        defaults.maxQueuedBytes(),
        defaults.maxShardJobs(),
        defaults.maxShardBytes(),
        defaults.bodyBudgetBytes(),
        defaults.failurePolicy(),
        defaults.packFromJobs(),
        defaults.historyBytes(),
        Set.of(),
        HistoryLimit.STANDARD,
        null);
  }

  /** Lets time go by, with a look at everything at every step. */
  private void pass(Duration duration) {
    Duration step = Duration.ofSeconds(30);
    for (long i = duration.dividedBy(step); i > 0; i--) {
      world.pass(step);
      world.settle();
      while (world.finishOne() != null) {}
    }
  }

  private JobRef dead() {
    JobRef job = world.add(world.spec(world.nowMicros(), 0, 0, new byte[] {1}));
    world.giveUpOne();
    return job;
  }

  private JobState state(JobRef job) {
    List<JobState> states = new ArrayList<>();
    world
        .node()
        .get(job, found -> found.orThrow().ifPresent(view -> states.add(view.info().state())));
    world.settle();
    return states.isEmpty() ? null : states.getFirst();
  }

  @Test
  void replayThatMeetsTheEndOfItsRetentionIsRefusedAndNotLost() {
    Schedule schedule = Schedule.every(Duration.ofMinutes(10));
    world.add(world.recurring(schedule, world.nowMicros() + 1_000_000));
    JobRef dead = dead();
    assertThat(state(dead)).isEqualTo(JobState.DEAD);
    world.hold(NodeEnvironment.Channel.PACK); // the shard is rewritten, and not yet
    pass(DEAD_RETENTION.plusMinutes(15));

    List<Outcome<ControlResult>> answers = new ArrayList<>();
    world.node().replay(dead, "who", null, answers::add);
    world.settle();
    assertThat(answers).isEmpty(); // it waits for that
    world.letGo();
    world.settle();

    assertThat(answers).containsExactly(Outcome.ok(ControlResult.NOT_FOUND));
    assertThat(world.finishOne()).isNull();
    world.restart(options(2));
    assertThat(state(dead)).isNull();
  }

  /** What has ended meanwhile is not old by a clock that is corrected by then. */
  @Test
  void keyOfAJobThatEndedAfterTheClockWasCorrectedIsRemembered() {
    Schedule schedule = Schedule.every(Duration.ofMinutes(10));
    world.add(world.recurring(schedule, world.nowMicros() + 1_000_000));
    world.add(world.keyed("order-0", Duration.ZERO));
    world.finishOne();
    Duration delay = Duration.ofSeconds(1);
    JobRef keyed = world.add(world.keyed("order-1", delay));
    world.pause(keyed, "for now", outcome -> {});
    unreadable = true;
    world.skew(Duration.ofDays(10));
    pass(Duration.ofMinutes(5)); // its history is to be gone through, and cannot be
    world.skew(Duration.ZERO);
    world.resume(keyed, outcome -> {});
    pass(Duration.ofMinutes(1));
    unreadable = false;
    pass(Duration.ofMinutes(5));
    assertThat(state(keyed)).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.add(world.keyed("order-1", delay))).isEqualTo(keyed);
  }

  /** A crash has left an older generation beside a packed one, and it has to go before. */
  @Test
  void shardIsCompactedOnceHoweverLongTheDropOfItsOlderGenerationTakes() {
    addToAPackedShardWithAnOlderGeneration();

    world.holdAnswers(NodeEnvironment.Channel.CONTROL);
    pass(Duration.ofMinutes(10));
    assertThat(operations).containsOnlyOnce(ForwardingStore.Operation.DROP_GENERATIONS);
    world.letGo();
    pass(Duration.ofMinutes(10));

    assertThat(operations).containsOnlyOnce(ForwardingStore.Operation.PUBLISH);
    assertThat(world.reports()).isEmpty();
  }

  @Test
  void lastJobOfAShardIsKeptThatEndsBeforeItsShardIsCompacted() {
    JobRef last = addToAPackedShardWithAnOlderGeneration();

    world.holdAnswers(NodeEnvironment.Channel.CONTROL);
    pass(Duration.ofMinutes(10));
    assertThat(operations).containsOnlyOnce(ForwardingStore.Operation.DROP_GENERATIONS);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    world.cancel(last, "not needed", answers::add);
    world.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    world.letGo();
    pass(Duration.ofMinutes(10));

    assertThat(state(last)).isEqualTo(JobState.CANCELLED);
    world.restart(options(3));
    assertThat(state(last)).isEqualTo(JobState.CANCELLED);
  }

  /** A node packed a shard of dead letters and one live job and died; the next has loaded it. */
  private JobRef addToAPackedShardWithAnOlderGeneration() {
    Schedule schedule = Schedule.every(DEAD_RETENTION.multipliedBy(2));
    JobRef live = world.add(world.recurring(schedule, world.nowMicros() + 1_000_000));
    for (int i = 0; i < options(1).packFromJobs(); i++) {
      dead();
    }
    undroppable = true;
    pass(DEAD_RETENTION.dividedBy(2));
    assertThat(operations).contains(ForwardingStore.Operation.DROP_GENERATIONS); // it is packed
    Duration passed = Duration.of(world.nowMicros() - StillWorld.FIRST_MICROS, ChronoUnit.MICROS);
    world = new StillWorld(options(2), store);
    undroppable = false;
    world.pass(passed);
    pass(DEAD_RETENTION.plusMinutes(9).plusSeconds(30).minus(passed)); // it is loaded by now
    operations.clear();
    return live;
  }
}
