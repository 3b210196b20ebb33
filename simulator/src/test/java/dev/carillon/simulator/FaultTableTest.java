package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which cells of the table are missed when nothing happened in them. */
class FaultTableTest {
  private static final String CHECKPOINT = "checkpoint × crash";

  @Test
  void whatWorkflowsDoIsMissedOnlyWhereThereAreSome() {
    assertThat(new FaultTable(new Seed(1, 1, true)).empty()).contains(CHECKPOINT, "cancel × crash");
    assertThat(new FaultTable(new Seed(1, 1)).empty())
        .contains("cancel × crash")
        .noneMatch(cell -> cell.startsWith("checkpoint"));
  }
}
