package dev.carillon.engine;

import dev.carillon.api.JobState;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Several nodes on one store in memory, each in a {@link StillWorld}, moved through time together.
 */
final class StillFleet {
  /** By then others have taken over from a node that is dead. */
  static final Duration DEAD_WITHIN = Duration.ofMillis(3600);

  private final MemoryStore store = new MemoryStore(this::trueMicros);
  private final Duration step;
  private final List<StillWorld> running = new ArrayList<>();
  private final Set<StillWorld> paused = new HashSet<>();
  private Duration passed = Duration.ZERO;
  private long incarnations;

  StillFleet(Duration step) {
    this.step = step;
  }

  private long trueMicros() {
    return StillWorld.FIRST_MICROS + Micros.ceil(passed);
  }

  StillWorld node(String id) {
    return node(NodeOptions.of(id, 1).slots(), id, true);
  }

  /** One that owns nothing. */
  StillWorld client(String id) {
    Membership membership = Membership.standard().asClient();
    return open(options(id, 1).among(membership), false);
  }

  StillWorld node(int slots, String id, boolean handles) {
    return open(options(id, slots), handles);
  }

  /** One that keeps few bodies of jobs in memory. */
  StillWorld nodeOfFewBodies(String id, long bodyBudgetBytes) {
    return open(options(id, NodeOptions.of(id, 1).slots(), bodyBudgetBytes), true);
  }

  /** One that sees the store through another. */
  StillWorld node(String id, UnaryOperator<Store> through) {
    NodeOptions options = options(id, NodeOptions.of(id, 1).slots());
    return open(new StillWorld(options, through.apply(store), true));
  }

  /** The same with one slot and where each attempt waits for its own node. */
  StillWorld nodeThatLendsNothing(String id, UnaryOperator<Store> through) {
    NodeOptions options = options(id, 1).among(Membership.standard().withoutLending());
    return open(new StillWorld(options, through.apply(store), true));
  }

  private StillWorld open(NodeOptions options, boolean handles) {
    return open(new StillWorld(options, store, handles));
  }

  private StillWorld open(StillWorld world) {
    world.pass(passed);
    world.settle();
    running.add(world);
    return world;
  }

  private NodeOptions options(String id, int slots) {
    return options(id, slots, NodeOptions.of(id, 1).bodyBudgetBytes());
  }

  private NodeOptions options(String id, int slots, long bodyBudgetBytes) {
    NodeOptions all = NodeOptions.of(id, ++incarnations).among(Membership.standard());
    return new NodeOptions(
        all.nodeId(),
        all.incarnation(),
        slots,
        Duration.ZERO,
        all.loadHorizon(),
        all.overdueAfter(),
        all.aloneTime(),
        all.successRetention(),
        all.failureRetention(),
        all.deadRetention(),
        all.keyRetention(),
        all.maxQueued(),
        all.maxQueuedBytes(),
        all.maxShardJobs(),
        all.maxShardBytes(),
        bodyBudgetBytes,
        all.failurePolicy(),
        all.packFromJobs(),
        all.historyBytes(),
        all.indexedMetadata(),
        all.historyLimit(),
        all.membership());
  }

  /** Its calls are never answered again and nothing of it moves. */
  void kill(StillWorld world) {
    running.remove(world);
  }

  /** Stops it in order; returns how many handlers that still ran did so. */
  int stop(StillWorld world) {
    world.node().beginStop();
    world.settle();
    int finished = 0;
    while (world.finishOne() != null) {
      finished++;
    }
    world.node().release(() -> {});
    world.settle();
    running.remove(world);
    return finished;
  }

  /** The same where what still runs is interrupted. */
  void stopShort(StillWorld world) {
    world.node().beginStop();
    world.settle();
    world.node().interruptRunning();
    while (!world.running().isEmpty()) {
      world.finishOne(new AttemptOutcome.Interrupted());
    }
    world.node().release(() -> {});
    world.settle();
    running.remove(world);
  }

  /** Its clocks go on and it does not. */
  void pause(StillWorld world) {
    paused.add(world);
  }

  void resume(StillWorld world) {
    paused.remove(world);
  }

  void pass(Duration time) {
    for (Duration left = time; left.isPositive(); left = left.minus(step)) {
      passed = passed.plus(step);
      for (StillWorld world : running) {
        world.pass(step);
        if (!paused.contains(world)) {
          world.settle();
        }
      }
    }
  }

  /** Time passes for all of them, nothing moves. */
  void skip(Duration time) {
    passed = passed.plus(time);
    running.forEach(world -> world.pass(time));
  }

  /** Lets time pass while every handler that runs returns at the next step; how many did. */
  int work(Duration time) {
    int finished = 0;
    for (Duration left = time; left.isPositive(); left = left.minus(step)) {
      pass(step);
      for (StillWorld world : List.copyOf(running)) {
        int many = world.running().size();
        for (int i = 0; i < many; i++) {
          finished += world.finishOne() != null ? 1 : 0;
        }
      }
    }
    return finished;
  }

  MemoryStore store() {
    return store;
  }

  JobState stateOf(JobRef job) {
    return new JobReader(store).find(job).orThrow().orElseThrow().view().info().state();
  }
}
