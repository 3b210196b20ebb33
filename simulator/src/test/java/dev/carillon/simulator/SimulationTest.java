package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulationTest {
  private static final long FIRST_SEED = 1;
  private static final long SEEDS = 300;

  @Test
  void everyGuaranteeHoldsForAFewHundredSeeds() {
    int threads = Runtime.getRuntime().availableProcessors();
    Campaign.Outcome outcome = new Campaign(FIRST_SEED, SEEDS, threads, done -> {}).run();

    assertThat(outcome.failures())
        .as("seeds that broke a guarantee; replay: ./carillon simulate --seed S --trace")
        .extracting(f -> f.result().seed() + ": " + f.violation().guarantee() + " " + f.violation())
        .isEmpty();
    assertThat(outcome.weak()).as("seeds with too few jobs, events or faults").isEmpty();
    assertThat(outcome.seeds()).isEqualTo(SEEDS);
  }

  @Test
  void sameSeedGivesTheSameTrace() {
    for (long seed = 7; seed < 12; seed++) {
      List<String> once = new ArrayList<>();
      List<String> again = new ArrayList<>();
      Simulation.Result first = new Simulation(seed, new FaultTable(), once::add).run();
      Simulation.Result second = new Simulation(seed, new FaultTable(), again::add).run();

      assertThat(again).isEqualTo(once);
      assertThat(second.hash()).isEqualTo(first.hash());
    }
  }

  @Test
  void differentSeedsGiveDifferentTraces() {
    Simulation.Result first = new Simulation(1, new FaultTable(), null).run();
    Simulation.Result second = new Simulation(2, new FaultTable(), null).run();

    assertThat(second.hash()).isNotEqualTo(first.hash());
  }
}
