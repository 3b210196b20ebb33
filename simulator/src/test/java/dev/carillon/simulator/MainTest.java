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
        .contains("append", "graceful stop", "3 seeds with", "PASS")
        .startsWith("the same seeds again: ./carillon simulate --seeds 3 --seed 5\n");
  }

  @Test
  void firstSeedIsDrawnForEachRunAndPrintedWithTheCommandThatRepeatsIt() {
    assertThat(run("--seeds", "1", "--nodes", "2")).isZero();
    String command = out.toString(StandardCharsets.UTF_8).lines().findFirst().orElseThrow();
    assertThat(command)
        .matches("the same seeds again: ./carillon simulate --nodes 2 --seeds 1 --seed [0-9]+");
    assertThat(Arguments.parse().first().number())
        .isNotEqualTo(Arguments.parse().first().number())
        .isPositive();
    String[] again = command.replaceFirst(".*simulate ", "").split(" ");
    String first = lineWithHash();
    out.reset();
    assertThat(run(again)).isZero();
    assertThat(lineWithHash()).isEqualTo(first);
  }

  private String lineWithHash() {
    return out.toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.contains(", hash "))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void jsonIsOneObject() {
    assertThat(run("--seeds", "2", "--seed", "8", "--json")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .startsWith("{\"seeds\":2,\"firstSeed\":8,\"nodes\":1,")
        .endsWith("}\n");
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
