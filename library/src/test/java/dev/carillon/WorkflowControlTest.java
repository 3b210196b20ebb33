package dev.carillon;

import static dev.carillon.Types.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.CancelResult;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.workflow.SignalType;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What operators do with workflows: terminate, pause, replay. */
@Timeout(60)
class WorkflowControlTest {
  private static final JobType<String, String> ORDER =
      JobType.of("order", String.class, String.class);
  private static final SignalType<String> GO = SignalType.of("go", String.class);

  private final List<String> done = new CopyOnWriteArrayList<>();

  private static Carillon open() {
    return Carillon.builder().inMemory().daemon(true).open();
  }

  @Test
  void terminateEndsAWorkflowWhoseStepHangsWithoutCompensations() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            wf.onFailure("undo", () -> done.add("undo"));
            wf.step(
                "hang",
                () -> {
                  hangs.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } finally {
                    interrupted.countDown();
                  }
                });
            return text;
          });
      JobHandle<String> order = carillon.schedule(ORDER.job("x"));
      hangs.await();

      CancelResult answer = carillon.terminate(order.id(), "hangs");

      assertThat(answer).isIn(new CancelResult.Stopping(), new CancelResult.Cancelled());
      assertThatThrownBy(() -> order.result(LONG))
          .isInstanceOf(JobFailedException.class)
          .hasMessageContaining("CANCELLED");
      interrupted.await();
      assertThat(order.info().state()).isEqualTo(JobState.CANCELLED);
      assertThat(order.info().reason()).isEqualTo("terminated: hangs");
      assertThat(done).isEmpty();
    }
  }

  @Test
  void terminateReachesChildrenThatWait() {
    JobType<String, String> inner = JobType.of("inner", String.class, String.class);
    try (Carillon carillon = open()) {
      carillon.workflow(
          inner,
          (text, wf) -> {
            wf.onFailure("undo", () -> done.add("undo"));
            return wf.await(GO);
          });
      carillon.workflow(ORDER, (text, wf) -> wf.call(inner.job(text)));
      JobHandle<String> order = carillon.schedule(ORDER.job("x"));

      carillon.terminate(order.id(), "");

      assertThatThrownBy(() -> order.result(LONG)).isInstanceOf(JobFailedException.class);
      assertThat(done).isEmpty();
      carillon.stream(dev.carillon.api.JobQuery.all())
          .forEach(job -> assertThat(job.state()).isEqualTo(JobState.CANCELLED));
    }
  }
}
