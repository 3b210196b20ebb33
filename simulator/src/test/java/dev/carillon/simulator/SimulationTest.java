package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SimulationTest {
  private static final Seed FIRST = new Seed(1, 1);
  private static final long SEEDS = 100;
  private static final long SEEDS_OF_SEVERAL = 10;

  @Test
  void everyGuaranteeHoldsForAHundredSeeds() {
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
  void everyGuaranteeHoldsForSeveralNodes() {
    int threads = Runtime.getRuntime().availableProcessors();
    for (int nodes : new int[] {3, 5, 7}) {
      Campaign.Outcome outcome =
          new Campaign(new Seed(1, nodes), SEEDS_OF_SEVERAL, threads, done -> {}).run();

      assertThat(outcome.failures())
          .as(
              "seeds that broke a guarantee; replay: ./carillon simulate --nodes N --seed S"
                  + " --trace")
          .extracting(f -> f.result().seed() + " of " + nodes + ": " + f.violation())
          .isEmpty();
      assertThat(outcome.weak()).as("seeds with too few jobs, events or faults").isEmpty();
    }
  }

  /** Each broke a guarantee once, by a bug of the engine or of the judge. */
  @ParameterizedTest
  @CsvSource({"7700393,1", "7703362,1", "9109958,1", "9117742,1", "9502825,5"})
  void seedThatOnceFailedHolds(long number, int nodes) {
    Seed seed = new Seed(number, nodes);
    assertThat(new Simulation(seed, new FaultTable(seed), null).run().violation()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void sameSeedGivesTheSameTrace(int nodes) {
    for (long number = 7; number < 12; number++) {
      Seed seed = new Seed(number, nodes);
      List<String> once = new ArrayList<>();
      List<String> again = new ArrayList<>();
      Simulation.Result first = new Simulation(seed, new FaultTable(seed), once::add).run();
      Simulation.Result second = new Simulation(seed, new FaultTable(seed), again::add).run();

      assertThat(again).isEqualTo(once);
      assertThat(second.hash()).isEqualTo(first.hash());
    }
  }

  /** An error that ended its thread would take the seed out of the hash of all. */
  @Test
  void errorBreaksAGuaranteeOfItsSeed() {
    Simulation simulation =
        new Simulation(
            FIRST,
            new FaultTable(FIRST),
            line -> {
              throw new StackOverflowError(line);
            });

    assertThat(simulation.run().violation())
        .isNotNull()
        .hasCauseInstanceOf(StackOverflowError.class)
        .extracting(Violation::guarantee)
        .isEqualTo(Guarantee.NO_ERROR);
  }

  @Test
  void differentSeedsGiveDifferentTraces() {
    Simulation.Result first = new Simulation(FIRST, new FaultTable(FIRST), null).run();
    Simulation.Result second = new Simulation(new Seed(2, 1), new FaultTable(FIRST), null).run();

    assertThat(second.hash()).isNotEqualTo(first.hash());
  }
}
