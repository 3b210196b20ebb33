package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.Arguments.ArgumentSet;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Four suites in their short form, one after the other. The others would make every build minutes
 * longer and are run by the command. Bounds of time are those of a quiet machine: here they are
 * shown, and {@code ./carillon prove} judges them.
 */
class ProofTest {
  private static final Path POSTGRES = Path.of("target", "postgres");

  private static final Set<String> IN_EVERY_BUILD = Set.of("kill", "failover", "pause", "restart");

  @TempDir Path folder;

  static Stream<ArgumentSet> suites() {
    return Main.suites().stream()
        .filter(suite -> IN_EVERY_BUILD.contains(suite.name()))
        .map(suite -> Arguments.argumentSet(suite.name(), suite));
  }

  @ParameterizedTest
  @MethodSource("suites")
  void everyPromiseIsKept(Suite suite) throws Exception {
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
