package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import dev.carillon.engine.JobRef;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.ShardId;
import dev.carillon.testkit.CarillonTest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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

  private final CountedStore store = new CountedStore(new MemoryStore());
  private final Set<ShardId> shardsThatRan = ConcurrentHashMap.newKeySet();
  private final LongAdder ran = new LongAdder();

  @Test
  void aShardIsReadOnceWhenItsTimeComesAndJobsNever() {
    try (CarillonTest world = world(store)) {
      handle(world.carillon());
      schedule(world.carillon(), JOBS, START, SPAN);
      tick(world, SPAN.plusMinutes(1));
    }
    assertThat(ran.sum()).isEqualTo(JOBS);
    assertThat(shardsThatRan).hasSizeGreaterThan(5);
    assertThat(store.readsByShard().keySet()).isSubsetOf(shardsThatRan);
    assertThat(store.readsByShard().values()).allMatch(reads -> reads == 1);
  }

  @Test
  void afterARestartEachShardWithWorkIsReadOnce() {
    try (CarillonTest world = world(store)) {
      schedule(world.carillon(), JOBS, START, SPAN);
      world.settle();
      assertThat(store.calls().reads()).isZero();
      world.restart();
      handle(world.carillon());
      tick(world, SPAN.plusMinutes(1));
    }
    assertThat(ran.sum()).isEqualTo(JOBS);
    assertThat(store.readsByShard().keySet()).isEqualTo(shardsThatRan);
    assertThat(store.readsByShard().values()).allMatch(reads -> reads == 1);
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
  private static CarillonTest world(CountedStore store) {
    return CarillonTest.at(START, () -> store, ReadsTest::defaultHorizon);
  }

  private static void defaultHorizon(CarillonBuilder builder) {
    builder.loadHorizon(Duration.ofMinutes(1));
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
