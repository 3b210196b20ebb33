package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/**
 * A suite in its short form, by its name. Four run in every build; the others would make it minutes
 * longer and are run by the command. Bounds of time are those of a quiet machine: here they are
 * shown, and {@code ./carillon prove} judges them.
 */
abstract class ShortProof {
  private static final Path POSTGRES = Path.of("target", "postgres");

  @TempDir Path folder;

  void isKept(String name) throws Exception {
    Suite suite =
        Main.suites().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    long seed = System.nanoTime() & 0xFFFF_FFFFL;
    int rounds = suite.shortRounds();
    Proof proof =
        suite.run(new Suite.Stage(folder, POSTGRES, rounds, seed, true, System.out::println));
    proof.figures().forEach((what, count) -> System.out.printf("%,12d  %s%n", count, what));
    assertThat(proof.problems()).as("seed %s", seed).isEmpty();
    for (Check check : proof.checks().stream().filter(c -> !c.isOfTime()).toList()) {
      assertThat(check.examples()).as("%s (seed %s)", check.promise(), seed).isEmpty();
    }
    assertThat(proof.figures().get("acknowledged, new")).isPositive();
  }
}
