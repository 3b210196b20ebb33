package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.member.Orders;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Several nodes on one store, in worlds whose time is moved together. */
abstract class ClusterFixture {
  static final Duration STEP = Duration.ofMillis(100);

  static final Duration DEAD_WITHIN = Duration.ofMillis(3600);

  static final Membership RETURNING = Membership.standard();

  static final Membership PASSING =
      new Membership(RETURNING.heartbeatInterval(), RETURNING.timeout(), RETURNING.forget(), false);

  final MemoryStore store = new MemoryStore(this::trueMicros);

  final List<StillWorld> running = new ArrayList<>();

  final Set<StillWorld> paused = new HashSet<>();

  Duration passed = Duration.ZERO;

  long incarnations;

  long orders;

  long trueMicros() {
    return StillWorld.FIRST_MICROS + Micros.ceil(passed);
  }

  StillWorld node(String id) {
    return node(id, RETURNING);
  }

  StillWorld node(String id, Membership membership) {
    return node(id, membership, store);
  }

  StillWorld node(String id, Membership membership, Store seen) {
    NodeOptions options = NodeOptions.of(id, ++incarnations).among(membership);
    StillWorld world = new StillWorld(options, seen);
    world.pass(passed);
    world.settle();
    running.add(world);
    return world;
  }

  /** Its calls are never answered again and nothing of it moves. */
  void kill(StillWorld world) {
    running.remove(world);
  }

  void stop(StillWorld world) {
    world.node().beginStop();
    world.settle();
    world.node().release(() -> {});
    world.settle();
    running.remove(world);
  }

  void pass(Duration time) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      passed = passed.plus(STEP);
      for (StillWorld world : running) {
        world.pass(STEP);
        if (!paused.contains(world)) {
          world.settle();
        }
      }
    }
  }

  static JobRef addDueIn(StillWorld world, Duration delay) {
    long due = world.nowMicros() + Micros.ceil(delay);
    return world.add(world.spec(due, 0, 0, new byte[0]));
  }

  Head headOf(JobRef job) {
    return store.journals().head(job.shard()).orThrow();
  }

  @Nullable JobState stateOf(JobRef job) {
    return new JobReader(store)
        .find(job)
        .orThrow()
        .map(story -> story.view().info().state())
        .orElse(null);
  }

  // ---- what operators order

  void order(String order, @Nullable String nodeId) {
    Records.Stamp stamp = new Records.Stamp(77, ++orders);
    assertThat(Orders.give(store, order, nodeId, stamp)).isEqualTo(Outcome.ok(true));
  }

  static JobSpec namedDueSoon(StillWorld world, String name) {
    return world.named(name, world.nowMicros() + Micros.ceil(Duration.ofSeconds(40)), new byte[0]);
  }
}
