package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One job for which thousands wait: all that is begun for them ends, however it does. */
class DependenciesTest {
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
    world.node().cancel(job, "no longer wanted", outcome -> {});
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
}
