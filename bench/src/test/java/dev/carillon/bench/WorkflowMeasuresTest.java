package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The benchmark of workflows runs and finds them again. */
class WorkflowMeasuresTest extends BenchmarkRun {
  @Test
  void workflowsAreMeasuredBesidePlainJobsAndFoundAgain() throws Exception {
    List<JsonNode> figures =
        run(
            "workflow",
            "--in-flight=512",
            "--backlog=1000",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1",
            "--samples=5",
            "--steps=400");
    assertThat(values(figures, "workflow", "a fresh process")).hasSize(2).containsOnly(1.0);
    assertThat(values(figures, "workflow", "operations, of those of plain jobs")).hasSize(1);
    assertThat(values(figures, "workflow", "share of the raw rate")).hasSize(1);
    assertThat(values(figures, "workflow, alone", "scheduled to result, p50")).hasSize(1);
    assertThat(values(figures, "workflow, long", "the last 200, of the first")).hasSize(1);
    assertThat(values(figures, "workflow, replay", "every workflow ran again")).containsOnly(1.0);
  }
}
