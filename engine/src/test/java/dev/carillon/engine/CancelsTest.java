package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Dependency;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.store.Records.Stamp;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ends that nobody asked for and that something comes between. */
@Timeout(60)
class CancelsTest {
  private static final Duration AHEAD = Duration.ofHours(2);

  private final StillWorld world = new StillWorld(NodeOptions.of("node", 1));

  @Test
  void jobReplacedWhileItWasToExpireGoesOn() {
    long due = world.nowMicros() + Micros.ceil(AHEAD);
    world.node().register(StillWorld.TYPE, 1, null);
    world.add(world.spec(world.nowMicros(), 0, 0, new byte[1])); // has the only place
    JobRef job = world.add(named(due, due + Micros.PER_SECOND * 60));
    OptionalSpec waits =
        OptionalSpec.NONE.with(List.of(new After(job, Dependency.Condition.ENDED)), List.of());
    world.add(spec(null, due, 0, waits));
    for (int minute = 0; minute < AHEAD.toMinutes(); minute++) {
      world.pass(Duration.ofMinutes(1)); // its shard sleeps again
      world.settle();
    }
    // Others wait for its end: its shard is to be awake first, which takes a while.
    world.hold(NodeEnvironment.Channel.CONTROL);
    world.pass(Duration.ofMinutes(1));
    world.settle();
    assertThat(world.add(named(world.nowMicros(), 0))).isEqualTo(job);
    world.letGo();
    world.settle();
    assertThat(world.finishOne()).isNotNull();
    Attempt next = world.finishOne();
    assertThat(next).isNotNull();
    assertThat(next.spec().name()).isEqualTo("report");
  }

  private JobSpec named(long dueMicros, long deadlineMicros) {
    return spec("report", dueMicros, deadlineMicros, OptionalSpec.NONE);
  }

  private JobSpec spec(
      @Nullable String name, long dueMicros, long deadlineMicros, OptionalSpec more) {
    return new JobSpec(
        dueMicros,
        world.nowMicros(),
        0,
        Stamp.ABSENT,
        StillWorld.TYPE,
        1,
        JobSpec.DEFAULT,
        JobSpec.DEFAULT,
        name,
        null,
        Map.of(),
        0,
        deadlineMicros,
        more,
        new byte[1]);
  }
}
