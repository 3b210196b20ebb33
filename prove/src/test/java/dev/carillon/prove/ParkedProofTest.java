package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Waiting workflows that are given up, in the short form, and that its checks bite. */
class ParkedProofTest {
  @TempDir Path folder;

  @Test
  void thousandWorkflowsWaitBesideTenThreads() throws Exception {
    Proof proof =
        new ParkedSuite().run(new Suite.Stage(folder, folder, 1, 1, true, System.out::println));

    assertThat(proof.problems()).isEmpty();
    for (Check check : proof.checks().stream().filter(each -> !each.isOfTime()).toList()) {
      assertThat(check.examples()).as(check.promise()).isEmpty();
    }
    assertThat(proof.figures().get("ran again")).isGreaterThanOrEqualTo(990);
  }

  private static List<String> broken(Map<String, Long> told) {
    return ParkedSuite.checks(told, 1_000, 10).stream()
        .filter(check -> !check.holds())
        .map(Check::promise)
        .toList();
  }

  @Test
  void threadsThatAreKeptAndCodeThatNoticesAreNoticed() {
    assertThat(
            broken(
                Map.of(
                    "ran again", 990L,
                    "caught", 0L,
                    "unwound", 0L,
                    "wrong", 0L,
                    "passed", 875L,
                    "passed nanos", 1_000_000_000L,
                    "step nanos p99", 300_000_000L)))
        .hasSize(2);
    assertThat(
            broken(
                Map.of(
                    "ran again", 989L,
                    "caught", 1L,
                    "unwound", 1L,
                    "wrong", 1L,
                    "passed", 875L,
                    "passed nanos", 100_000_000L,
                    "step nanos p99", 1_000_000L)))
        .hasSize(4);
    assertThat(broken(Map.of())).hasSize(6);
    assertThat(ParkedSuite.compacted(Map.of("compacted", 0L)).holds()).isFalse();
  }
}
