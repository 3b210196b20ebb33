package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Concurrency;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.job.JobRef;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What handlers save, while their jobs go on. */
@Timeout(60)
class SavesTest {
  @Test
  void jobThatItsHandlersLimitPassedOverWhileItWasSavedGoesOn() {
    StillWorld world = new StillWorld(NodeOptions.of("node", 1));
    world.node().register(StillWorld.TYPE, 1, null);
    JobRef saves = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    JobRef other = world.add(world.spec(world.nowMicros(), 5, 0, new byte[1]));
    Attempt first = world.running().getFirst();
    assertThat(first.ref()).isEqualTo(saves);
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.node().save(first, new byte[] {1}, outcome -> {});

    world.finishOne(new AttemptOutcome.Interrupted()); // the other one's turn, then its own again
    assertThat(world.running()).extracting(Attempt::ref).containsExactly(other);
    world.finishOne(new AttemptOutcome.Succeeded(new byte[0]));
    assertThat(world.running()).isEmpty();
    world.letGo();
    world.settle();

    assertThat(world.running()).extracting(Attempt::ref).containsExactly(saves);
    assertThat(world.running().getFirst().saved()).containsExactly(1);
  }

  @Test
  void jobThatItsKeyPassedOverWhileItWasSavedGoesOn() {
    StillWorld world = new StillWorld(NodeOptions.of("node", 1));
    Concurrency key = Concurrency.of("account").limit(1);
    JobRef saves = world.add(world.under(key));
    JobRef other = world.add(world.under(key));
    Attempt first = world.running().getFirst();
    assertThat(first.ref()).isEqualTo(saves);
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.node().save(first, new byte[] {1}, outcome -> {});
    world.finishOne(new AttemptOutcome.Again(world.nowMicros() + 1_000_000, "later"));
    world.pass(Duration.ofSeconds(2));
    world.settle();
    world.letGo();
    world.settle();

    for (int i = 0; i < 4 && world.running().stream().noneMatch(a -> a.ref().equals(saves)); i++) {
      assertThat(world.running()).extracting(Attempt::ref).containsExactly(other);
      world.finishOne(new AttemptOutcome.Succeeded(new byte[0]));
    }
    assertThat(world.running()).extracting(Attempt::ref).containsExactly(saves);
    assertThat(world.running().getFirst().saved()).containsExactly(1);
  }
}
