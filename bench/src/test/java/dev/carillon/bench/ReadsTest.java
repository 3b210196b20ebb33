package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import dev.carillon.testkit.CarillonTest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Jobs are not read in normal operation: a shard is, once, when it is loaded. */
class ReadsTest {
  private static final TaskType<Integer> COUNT = TaskType.of("count", Integer.class);
  private static final Instant START = Instant.parse("2030-01-01T00:10:00Z");
  private static final Duration SPAN = Duration.ofHours(6);
  private static final Duration TICK = Duration.ofSeconds(10);
  private static final int JOBS = 5_000;
  private static final Duration HORIZON = Duration.ofMinutes(1);
  private static final TaskType<byte[]> LARGE = TaskType.of("large", byte[].class);
  private static final int LARGE_BYTES = 16 << 10;
  private static final int LARGE_JOBS = 5_000;

  private final ReadLog log = new ReadLog(new MemoryStore());
  private final Set<ShardId> shardsThatRan = ConcurrentHashMap.newKeySet();
  private final LongAdder ran = new LongAdder();

  @Test
  void aShardIsReadOnceWhenItsTimeComesAndJobsNever() {
    try (CarillonTest world = world(log.store())) {
      handle(world.carillon());
      schedule(world.carillon(), JOBS, START, SPAN);
      tick(world, SPAN.plusMinutes(1));
    }
    assertThat(ran.sum()).isEqualTo(JOBS);
    assertThat(shardsThatRan).hasSizeGreaterThan(5);
    assertThat(log.passes().keySet()).isSubsetOf(shardsThatRan);
    assertThat(log.passes().values()).allMatch(passes -> passes == 1);
    assertThat(log.reads()).isEqualTo(log.passes().size());
  }

  @Test
  void afterARestartEachShardWithWorkIsReadOnce() {
    try (CarillonTest world = world(log.store())) {
      schedule(world.carillon(), JOBS, START, SPAN);
      world.settle();
      assertThat(log.reads()).isZero();
      world.restart();
      handle(world.carillon());
      tick(world, SPAN.plusMinutes(1));
    }
    assertThat(ran.sum()).isEqualTo(JOBS);
    assertThat(log.passes().keySet()).isEqualTo(shardsThatRan);
    assertThat(log.passes().values()).allMatch(passes -> passes == 1);
    assertThat(log.reads()).isEqualTo(log.passes().size());
  }

  @Test
  void jobsThatDoNotFitInMemoryAreReadOnceMoreAShardAndLoadHorizon() {
    Duration span = Duration.ofMinutes(40);
    try (CarillonTest world = world(log.store())) {
      world.carillon().handle(LARGE, (bytes, job) -> ran.increment());
      scheduleLarge(world.carillon(), span);
      Map<ShardId, Integer> before = Map.of();
      for (Duration at = Duration.ZERO; at.compareTo(span) <= 0; at = at.plus(HORIZON)) {
        world.advance(HORIZON);
        Map<ShardId, Integer> now = log.passes();
        for (var passes : now.entrySet()) {
          Integer earlier = before.get(passes.getKey());
          // The horizon in which it is loaded may need its bodies as well.
          assertThat(passes.getValue()).isLessThanOrEqualTo(earlier == null ? 2 : earlier + 1);
        }
        before = now;
      }
    }
    assertThat(ran.sum()).isEqualTo(LARGE_JOBS);
    assertThat(log.passes().values()).anyMatch(passes -> passes > 1);
  }

  private static void scheduleLarge(Carillon carillon, Duration span) {
    SplittableRandom random = new SplittableRandom(2);
    byte[] bytes = new byte[LARGE_BYTES];
    List<Job<?>> batch = new ArrayList<>();
    for (int i = 1; i <= LARGE_JOBS; i++) {
      batch.add(LARGE.job(bytes).at(START.plusSeconds(random.nextLong(60, span.toSeconds()))));
      if (batch.size() == 100 || i == LARGE_JOBS) {
        var unused = carillon.scheduleAll(batch);
        batch.clear();
      }
    }
  }

  @Test
  void anIdleNodeAsksTheSameHoweverManyJobsWait() {
    CountedStore.Calls few = idleHour(100);
    CountedStore.Calls many = idleHour(30_000);
    assertThat(few.reads()).isZero();
    assertThat(many.reads()).isZero();
    assertThat(many.listings()).isEqualTo(few.listings());
    assertThat(few.listings()).isLessThanOrEqualTo(4 * 60);
  }

  /** What a node asks of its store in an hour in which no job is due. */
  private static CountedStore.Calls idleHour(int jobs) {
    CountedStore store = new CountedStore(new MemoryStore());
    try (CarillonTest world = world(store)) {
      schedule(world.carillon(), jobs, START.plus(SPAN), Duration.ofHours(1));
      tick(world, Duration.ofMinutes(2));
      CountedStore.Calls before = store.calls();
      tick(world, Duration.ofHours(1));
      return store.calls().since(before);
    }
  }

  /** With the default load horizon, not the testkit's. */
  private static CarillonTest world(Store store) {
    return CarillonTest.at(START, () -> store, ReadsTest::defaultHorizon);
  }

  private static void defaultHorizon(CarillonBuilder builder) {
    builder.advanced(a -> a.loadHorizon(HORIZON));
  }

  private void handle(Carillon carillon) {
    carillon.handle(
        COUNT,
        (number, job) -> {
          shardsThatRan.add(Objects.requireNonNull(JobRef.parse(job.id())).shard());
          ran.increment();
        });
  }

  private static void schedule(Carillon carillon, int jobs, Instant from, Duration span) {
    SplittableRandom random = new SplittableRandom(1);
    List<Job<?>> batch = new ArrayList<>();
    for (int i = 1; i <= jobs; i++) {
      batch.add(COUNT.job(i).at(from.plusSeconds(random.nextLong(span.toSeconds()))));
      if (batch.size() == 1_000 || i == jobs) {
        var unused = carillon.scheduleAll(batch);
        batch.clear();
      }
    }
  }

  private static void tick(CarillonTest world, Duration span) {
    Instant end = world.now().plus(span);
    while (world.now().isBefore(end)) {
      world.advance(TICK);
    }
  }
}
