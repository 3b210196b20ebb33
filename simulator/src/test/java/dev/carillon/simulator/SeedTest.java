package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How a seed is named, so that somebody else runs the same. */
class SeedTest {
  @Test
  void commandNamesAllThatDecidesASeed() {
    assertThat(new Seed(7, 1).command()).isEqualTo("./carillon simulate --seed 7 --trace");
    assertThat(new Seed(7, 5, true, 2).command())
        .isEqualTo("./carillon simulate --seed 7 --nodes 5 --workflows --workers 2 --trace");
  }
}
