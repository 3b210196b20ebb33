package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.simulator.WorkflowProgram.Kind;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** That the simulated workflows do all that they could. */
class WorkflowSimulationTest {
  private static final long SEEDS = 40;

  @Test
  void workflowsMakeEachKindOfCallAndMeetEachKindOfEnd() {
    Campaign.Outcome outcome = new Campaign(new Seed(501, 1, true), SEEDS, 2, done -> {}).run();

    assertThat(outcome.failures()).isEmpty();
    Map<String, Long> calls = outcome.table().calls();
    for (Kind kind : Kind.values()) {
      assertThat(calls).containsKey("call " + kind);
    }
    assertThat(calls.keySet())
        .containsAll(
            List.of(
                "activation Compensated",
                "activation Diverged",
                "activation Renewed",
                "activation WorkflowFailed",
                "children ended",
                "compensations done",
                "divergences",
                "evicted",
                "parked runs that go on",
                "runs from a history",
                "step tries failed",
                "terminated",
                "timers fired",
                "workflows CANCELLED",
                "workflows DEAD",
                "workflows SUCCEEDED"));
  }
}
