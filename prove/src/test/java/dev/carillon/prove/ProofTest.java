package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KillProofTest {
  private static final int ROUNDS = 5;

  @TempDir Path folder;

  @Test
  void whatWasAcknowledgedSurvivesKills() throws Exception {
    long seed = System.nanoTime() & 0xFFFF_FFFFL;
    KillProof proof = KillProof.run(folder, ROUNDS, seed, true, System.out::println);
    assertThat(proof.problems()).as("seed %s", seed).isEmpty();
    for (Check check : proof.checks()) {
      assertThat(check.examples()).as("%s (seed %s)", check.promise(), seed).isEmpty();
    }
    assertThat(proof.figures().get("kills under load")).isEqualTo(ROUNDS);
    assertThat(proof.figures().get("acknowledged, new")).isPositive();
  }
}
