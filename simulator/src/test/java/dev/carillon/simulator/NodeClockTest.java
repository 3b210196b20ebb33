package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NodeClockTest {
  private static final long SECOND_MICROS = 1_000_000;

  private final VirtualClock time = new VirtualClock(new Climate(new Chance(1), new Seed(1, 1)));
  private final NodeClock clock = new NodeClock(time, 0, 0);

  /** After the second jump the clock would have shown the 14th second, had it not jumped again. */
  @Test
  void momentIsLookedForOnlyWhereTheClockHasNotJumpedOn() {
    time.moveTo(13 * VirtualClock.SECOND);
    clock.jump(20 * SECOND_MICROS);
    time.moveTo(14 * VirtualClock.SECOND);
    long shown = clock.wallMicros();
    time.moveTo(15 * VirtualClock.SECOND);
    clock.jump(-3 * SECOND_MICROS);
    time.moveTo(16 * VirtualClock.SECOND);
    clock.jump(-1_000 * SECOND_MICROS);
    time.moveTo(30 * VirtualClock.SECOND);

    assertThat(clock.nanosWhenWallWas(shown)).isEqualTo(14 * VirtualClock.SECOND);
  }
}
