package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobSpec;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Limits of a queue whose jobs are on several nodes. */
class SharedLimitTest {
  private static final int MANY_HANDLERS = 5000;

  private final StillFleet fleet = new StillFleet(Duration.ofMillis(100));
  private final StillWorld a = fleet.node("a");
  private final StillWorld b = fleet.node("b");

  SharedLimitTest() {
    fleet.pass(Duration.ofSeconds(3));
  }

  /** With 0 there is none. */
  private void limit(int limit) {
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
    a.node().changeFlow(queue, setting -> setting.limit(limit), outcome -> {});
    fleet.pass(Duration.ofSeconds(3));
  }

  private static void add(StillWorld world, int jobs) {
    for (int i = 0; i < jobs; i++) {
      world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
    }
  }

  private int running() {
    return a.running().size() + b.running().size();
  }

  @Test
  void limitThatWentAndCameHolds() {
    limit(1);
    add(a, 1);
    fleet.pass(Duration.ofSeconds(1));
    a.finishOne();
    limit(0);
    for (int i = 0; i < MANY_HANDLERS; i++) {
      a.node().register("type " + i, 1, null); // until what nobody needs is forgotten
    }
    fleet.pass(Duration.ofSeconds(60));
    limit(1);
    add(a, 1);
    fleet.pass(Duration.ofSeconds(10));
    assertThat(a.running()).hasSize(1);
    add(b, 1);
    fleet.pass(Duration.ofSeconds(10));
    assertThat(running()).isEqualTo(1);
  }

  @Test
  void whatANodeDoesNotUseGoesToOneThatNeedsIt() {
    limit(40);
    add(a, 40);
    fleet.pass(Duration.ofSeconds(3));
    assertThat(a.running()).hasSize(40);
    for (int i = 0; i < 39; i++) {
      a.finishOne();
    }
    add(b, 40);
    fleet.pass(Duration.ofSeconds(10));
    assertThat(a.running()).hasSize(1);
    assertThat(b.running()).hasSize(39);
  }

  @Test
  void nodeThatUsesItsPartAllTheTimeKeepsIt() {
    limit(4);
    add(a, 400);
    add(b, 400);
    fleet.work(Duration.ofSeconds(5));
    fleet.pass(Duration.ofSeconds(1));
    for (int i = 0; i < 60; i++) {
      for (StillWorld world : List.of(a, b)) {
        world.finishOne();
        world.finishOne();
        world.settle();
        assertThat(world.running()).hasSize(2);
      }
      fleet.pass(Duration.ofMillis(100));
    }
  }

  @Test
  void whatRanBeforeThereWasALimitCounts() {
    add(a, 3);
    fleet.pass(Duration.ofSeconds(1));
    limit(2);
    add(b, 2);
    for (int left = 3; left >= 2; left--) {
      fleet.pass(Duration.ofSeconds(10));
      assertThat(a.running()).hasSize(left);
      assertThat(b.running()).isEmpty();
      a.finishOne();
    }
    fleet.pass(Duration.ofSeconds(10));
    assertThat(b.running()).hasSize(1);
    a.finishOne();
    fleet.pass(Duration.ofSeconds(10));
    assertThat(b.running()).hasSize(2);
  }

  @Test
  void lowerLimitIsOfAllNodesTogether() {
    limit(4);
    add(a, 2);
    add(b, 2);
    fleet.pass(Duration.ofSeconds(3));
    assertThat(List.of(a.running().size(), b.running().size())).containsExactly(2, 2);
    limit(2);
    add(a, 2);
    add(b, 2);
    for (StillWorld world : List.of(a, b, a, b)) {
      int before = running();
      world.finishOne();
      fleet.pass(Duration.ofSeconds(5));
      assertThat(running()).isEqualTo(Math.max(2, before - 1));
    }
  }

  @Test
  void whatRanWithoutALimitCountsWhenThereIsTheSameAgain() {
    limit(1);
    add(a, 2);
    fleet.pass(Duration.ofSeconds(1));
    limit(0);
    assertThat(a.running()).hasSize(2);
    limit(1);
    a.finishOne();
    add(b, 1);
    fleet.pass(Duration.ofSeconds(10));
    assertThat(running()).isEqualTo(1);
    a.finishOne();
    fleet.pass(Duration.ofSeconds(10));
    assertThat(b.running()).hasSize(1);
  }
}
