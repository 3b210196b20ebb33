package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is killed while it runs workflows, in the short form. */
class WorkflowProofTest {
  private static final int KILLS = 2;

  @TempDir Path folder;

  @Test
  void everyPromiseIsKept() throws Exception {
    WorkflowSuite suite = new WorkflowSuite(KillSuite.Kind.SQLITE);
    long seed = System.nanoTime() & 0xFFFF_FFFFL;
    Proof proof =
        suite.run(new Suite.Stage(folder, folder, KILLS, seed, true, System.out::println));
    assertThat(proof.problems()).as("seed %s", seed).isEmpty();
    for (Check check : proof.checks().stream().filter(c -> !c.isOfTime()).toList()) {
      assertThat(check.examples()).as("%s (seed %s)", check.promise(), seed).isEmpty();
      assertThat(check.cases()).as("%s (seed %s)", check.promise(), seed).isPositive();
    }
    assertThat(proof.figures().get("pauses answered")).isPositive();
  }
}
