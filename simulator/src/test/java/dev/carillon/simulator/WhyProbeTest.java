package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.WaitReason;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** In random states of nodes the reasons why jobs do not run are there, and are so. */
class WhyProbeTest {
  private static final int LOOKS = 10_000;
  private static final int MOST_SEEDS = 200;
  private static final int SEVERAL = 3;
  private static final int SEVERAL_EVERY = 10;

  @Test
  void whyIsNeverEmptyForADueJobAndNamesNothingThatIsNotSo() {
    Map<WaitReason, Integer> named = new TreeMap<>();
    int looks = 0;
    int seeds = 0;
    while (looks < LOOKS && seeds < MOST_SEEDS) {
      seeds++;
      Seed seed = new Seed(seeds, seeds % SEVERAL_EVERY == 0 ? SEVERAL : 1);
      Simulation simulation = new Simulation(seed, new FaultTable(seed), null);
      assertThat(simulation.run().violation()).as("seed %s", seed).isNull();
      looks += simulation.why().looks();
      simulation.why().named().forEach((reason, count) -> named.merge(reason, count, Integer::sum));
    }
    System.out.println("why: " + looks + " looks in " + seeds + " seeds: " + named);
    assertThat(looks).isGreaterThanOrEqualTo(LOOKS);
    assertThat(named)
        .containsKeys(
            WaitReason.NOT_DUE,
            WaitReason.PAUSED,
            WaitReason.DEPENDENCY,
            WaitReason.NO_HANDLER,
            WaitReason.KEY,
            WaitReason.LIMIT,
            WaitReason.RATE);
  }
}
