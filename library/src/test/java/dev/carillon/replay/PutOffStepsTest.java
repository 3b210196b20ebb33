package dev.carillon.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.engine.environment.AttemptOutcome.Succeeded;
import dev.carillon.engine.environment.AttemptOutcome.Waiting;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pause that comes while the beginning of a step at most once is written. */
@Timeout(60)
class PutOffStepsTest {
  private static final StepOptions ONCE = StepOptions.defaults().atMostOnce();

  private final AtomicInteger runs = new AtomicInteger();

  private Object pays(Workflow wf, List<String> seen) {
    return wf.step("pay", Integer.class, ONCE, runs::incrementAndGet);
  }

  private Object paysBeside(Workflow wf, List<String> seen) {
    return wf.startStep("pay", Integer.class, ONCE, runs::incrementAndGet).join();
  }

  @Test
  void stepDoesNotBeginAndIsMadeAfterTheResume() {
    putOff(new Journal(this::pays));
  }

  @Test
  void stepBesideTheCodeDoesNotBeginAndIsMadeAfterTheResume() {
    putOff(new Journal(this::paysBeside));
  }

  private void putOff(Journal journal) {
    journal.beforeCheckpoint(() -> journal.pause(true));
    Waiting waiting = (Waiting) journal.begin();
    journal.write(waiting.turn());
    assertThat(runs).hasValue(0);

    journal.beforeCheckpoint(() -> {});
    journal.pause(false);
    assertThat(journal.resume()).isInstanceOf(Succeeded.class);

    assertThat(runs).hasValue(1);
  }

  @Test
  void anotherProcessMakesTheStepThatWasPutOff() {
    Journal journal = new Journal(this::pays);
    journal.beforeCheckpoint(() -> journal.pause(true));
    Waiting waiting = (Waiting) journal.begin();
    journal.write(waiting.turn());

    Journal other = journal.cut(journal.entries().size());
    assertThat(other.begin()).isInstanceOf(Succeeded.class);
    assertThat(other.begin()).isInstanceOf(Succeeded.class);

    assertThat(runs).hasValue(1);
  }
}
