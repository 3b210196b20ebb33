package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class MainTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... args) {
    return Main.run(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        args);
  }

  @Test
  void runOfSeedsPrintsTheTableAndPasses() {
    assertThat(run("--seeds", "3", "--seed", "5", "--threads", "1")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("append", "graceful stop", "3 seeds with", "PASS");
  }

  @Test
  void jsonIsOneObject() {
    assertThat(run("--seeds", "2", "--json")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("{\"seeds\":2,").endsWith("}\n");
  }

  @Test
  void traceTellsOneSeed() {
    assertThat(run("--seed", "3", "--trace")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("node starts 1", "everything heals", "seed 3:", "PASS");
  }

  @Test
  void strangeOptionIsExplained() {
    assertThat(run("--seeds", "many")).isEqualTo(2);
    assertThat(run("--nonsense")).isEqualTo(2);
    assertThat(run("--nodes", "8")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains(
            "--seeds: many (expected: a number)",
            "unknown option: --nonsense",
            "nodes: 8 (expected: from 1 to 7)",
            "Usage:");
  }
}
