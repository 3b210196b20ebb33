package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One job for which thousands wait: all that is begun for them ends, however it does. */
class DependenciesTest {
  private static final Duration LOOK = Duration.ofSeconds(15);
  private static final int LIVE = 300; // more than are told at once

  private final MemoryStore store = new MemoryStore();
  private final StillWorld world = new StillWorld(NodeOptions.of("node", 1), store);
  private final JobRef awaited = awaited();

  private JobRef awaited() {
    world.settle();
    long due = world.nowMicros() + Micros.ceil(Duration.ofHours(3));
    return world.add(world.spec(due, 0, 0, new byte[0]));
  }

  private List<JobRef> waiters(int count) {
    List<List<JobRef>> asked = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      asked.add(world.ask(world.after(awaited)));
    }
    world.settle();
    return asked.stream().map(List::getFirst).toList();
  }

  private void cancel(JobRef job) {
    world.cancel(job, "no longer wanted", outcome -> {});
  }

  /** One that waits for another, is far from its time and lies in a shard that sleeps. */
  private JobRef farAfter(JobRef other) {
    long due = world.nowMicros() + Micros.ceil(Duration.ofHours(30));
    JobRef job = world.add(world.after(other, due));
    world.pass(LOOK);
    world.settle();
    return job;
  }

  /** What was asked of the journals is done, and what that leads to is not. */
  private void commitOnce() {
    world.letGo();
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.settle();
  }

  /** The node is killed, and another finds at once what it left. */
  private void goOnAfterCrash() {
    StillWorld next = new StillWorld(NodeOptions.of("node", 2), store);
    next.skew(Duration.of(world.nowMicros() - StillWorld.FIRST_MICROS, ChronoUnit.MICROS));
    next.settle();
  }

  private long ended(List<JobRef> jobs) {
    return jobs.stream()
        .filter(
            job ->
                new JobReader(store)
                    .find(job)
                    .orThrow()
                    .orElseThrow()
                    .view()
                    .info()
                    .state()
                    .ended())
        .count();
  }

  @Test
  void thoseThatWaitAreToldThoughThousandsBehindThemNoLongerDo() {
    List<JobRef> all = waiters(LIVE + 9_000);
    all.subList(LIVE, all.size()).forEach(this::cancel);
    world.settle();
    cancel(awaited);
    world.settle();
    assertThat(ended(all.subList(0, LIVE))).isEqualTo(LIVE);
    world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
    assertThat(world.running()).hasSize(1);
  }

  @Test
  void thousandsOfDebtsOfALostShardAreLeftToItsNextOwner() {
    waiters(9_000);
    world.hold(NodeEnvironment.Channel.COMMIT);
    cancel(awaited);
    world.settle();
    world.letGo();
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.settle(); // it has ended; the first are being told
    Head head = store.journals().head(awaited.shard()).orThrow();
    store.journals().claim(awaited.shard(), head.epoch(), 99).orThrow();
    world.letGo();
    world.settle();
    JobRef next = world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
    assertThat(world.running()).hasSize(1);
    JobRef after = world.add(world.after(next));
    world.finishOne();
    assertThat(world.running()).hasSize(1);
    assertThat(world.running().getFirst().job().number).isEqualTo(after.number());
  }

  @Test
  void jobThatIsAboutToBeEndedIsFoundByWhoeverComesAfterACrash() {
    JobRef waiter = farAfter(awaited);
    world.hold(NodeEnvironment.Channel.COMMIT);
    cancel(awaited);
    world.settle();
    commitOnce(); // the waiter is being told
    world.prioritise(waiter, 3, outcome -> {});
    world.settle(); // that comes after what it is told
    world.pass(LOOK.minusMillis(10));
    world.letGo();
    world.settle(); // it is to be ended in a moment
    world.pass(Duration.ofMillis(10));
    world.settle(); // a look came before that
    assertThat(ended(List.of(waiter))).isZero();
    goOnAfterCrash();
    assertThat(ended(List.of(waiter))).isOne();
  }

  @Test
  void debtIsPaidAfterACrashThoughClocksWentBack() {
    JobRef waiter = farAfter(awaited);
    world.pass(Duration.ofHours(3));
    world.settle();
    world.hold(NodeEnvironment.Channel.COMMIT);
    assertThat(world.finishOne()).isNotNull();
    commitOnce();
    world.skew(Duration.ofHours(-2));
    world.pass(LOOK);
    world.settle();
    assertThat(isMet(waiter)).isFalse();
    goOnAfterCrash();
    assertThat(isMet(waiter)).isTrue();
  }

  private boolean isMet(JobRef waiter) {
    return new JobReader(store)
        .find(waiter)
        .orThrow()
        .orElseThrow()
        .view()
        .info()
        .dependencies()
        .getFirst()
        .met();
  }
}
