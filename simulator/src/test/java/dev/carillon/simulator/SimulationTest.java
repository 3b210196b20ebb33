package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulationTest {
  private static final Seed FIRST = new Seed(1, 1);
  private static final long SEEDS = 300;

  @Test
  void everyGuaranteeHoldsForAFewHundredSeeds() {
    int threads = Runtime.getRuntime().availableProcessors();
    Campaign.Outcome outcome = new Campaign(FIRST, SEEDS, threads, done -> {}).run();

    assertThat(outcome.failures())
        .as("seeds that broke a guarantee; replay: ./carillon simulate --seed S --trace")
        .extracting(f -> f.result().seed() + ": " + f.violation().guarantee() + " " + f.violation())
        .isEmpty();
    assertThat(outcome.weak()).as("seeds with too few jobs, events or faults").isEmpty();
    assertThat(outcome.seeds()).isEqualTo(SEEDS);
  }

  @Test
  void sameSeedGivesTheSameTrace() {
    for (long number = 7; number < 12; number++) {
      Seed seed = new Seed(number, 1);
      List<String> once = new ArrayList<>();
      List<String> again = new ArrayList<>();
      Simulation.Result first = new Simulation(seed, new FaultTable(1), once::add).run();
      Simulation.Result second = new Simulation(seed, new FaultTable(1), again::add).run();

      assertThat(again).isEqualTo(once);
      assertThat(second.hash()).isEqualTo(first.hash());
    }
  }

  @Test
  void differentSeedsGiveDifferentTraces() {
    Simulation.Result first = new Simulation(FIRST, new FaultTable(1), null).run();
    Simulation.Result second = new Simulation(new Seed(2, 1), new FaultTable(1), null).run();

    assertThat(second.hash()).isNotEqualTo(first.hash());
  }
}
