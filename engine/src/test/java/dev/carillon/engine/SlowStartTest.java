package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.dispatch.Gate;
import dev.carillon.engine.dispatch.SlowStart;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How the slots of a node open after a start and after fences. */
class SlowStartTest {
  private static final int SLOTS = NodeOptions.of("a", 1).slots();

  private final Timers timers = new Timers();
  private final Gate gate = new Gate(SLOTS);
  private final SlowStart slowStart =
      new SlowStart(() -> this.nanos, timers, NodeOptions.of("a", 1), gate);
  private long nanos;

  private void pass(Duration time) {
    long until = nanos + time.toNanos();
    while (nanos < until) {
      nanos = Math.min(until, nanos + Duration.ofMillis(100).toNanos());
      timers.run(nanos);
    }
  }

  private void fence() {
    slowStart.fenced();
    pass(Duration.ofSeconds(3));
    slowStart.goOn();
  }

  @Test
  void aNodeStartsWithFewSlotsAndOpensAllWithinSeconds() {
    slowStart.start();
    assertThat(gate.limit()).isEqualTo(64);
    pass(Duration.ofSeconds(1));
    assertThat(gate.limit()).isEqualTo(128);
    pass(Duration.ofSeconds(5));
    assertThat(gate.limit()).isEqualTo(SLOTS);
    assertThat(slowStart.problem()).isNull();
  }

  @Test
  void eachFenceInARowHalvesTheSlotsWithWhichTheNodeGoesOn() {
    slowStart.start();
    int[] expected = {64, 32, 16, 8, 4, 2, 1, 1, 1};
    for (int slots : expected) {
      fence();
      assertThat(gate.limit()).isEqualTo(slots);
    }
    assertThat(slowStart.problem()).contains("9 in a row", "1 of " + SLOTS + " slots");
  }

  @Test
  void noSlotOpensWhileTheNodeIsFenced() {
    slowStart.start();
    slowStart.fenced();
    pass(Duration.ofHours(1));
    assertThat(gate.limit()).isEqualTo(64);
  }

  @Test
  void aNodeThatIsFencedAgainAndAgainHasAllSlotsWithinAMinuteAfterTheLastTime() {
    slowStart.start();
    for (int i = 0; i < 100; i++) {
      fence();
    }
    pass(Duration.ofSeconds(41));
    assertThat(gate.limit()).isEqualTo(SLOTS);
    assertThat(slowStart.fences()).isEqualTo(100);
    pass(Duration.ofSeconds(60));
    assertThat(slowStart.fences()).isZero();
    assertThat(slowStart.problem()).isNull();
    fence();
    assertThat(gate.limit()).isEqualTo(64);
  }
}
