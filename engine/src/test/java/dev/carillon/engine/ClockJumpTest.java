package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.environment.NodeEnvironment.Channel;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wall clock that jumps forward while a shard is being created. */
@Timeout(60)
class ClockJumpTest {
  private final StillWorld world = new StillWorld(NodeOptions.of("node", 1));

  private void ask(Duration delay) {
    long due = world.nowMicros() + Micros.ceil(delay);
    List<?> unused = world.ask(world.spec(due, 0, 0, new byte[0]));
  }

  /** The shard of a far hour was made to sleep until then, and that hour has come. */
  @Test
  void jobStartsAtOnceInAShardWhoseHourHasComeWhileItWasCreated() {
    world.settle();
    world.holdAnswers(Channel.CONTROL);
    ask(Duration.ofMinutes(5 * 60 + 59));
    ask(Duration.ofMinutes(10));
    world.settle();
    world.skew(Duration.ofMinutes(5 * 60 + 30));
    world.settle(); // the node has looked for what the jump makes due
    assertThat(world.running()).isEmpty();

    world.letGo();
    world.settle();

    assertThat(world.running()).hasSize(1);
  }
}
