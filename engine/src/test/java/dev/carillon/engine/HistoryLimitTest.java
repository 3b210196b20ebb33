package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.BlockReason;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.HistoryLimit;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.WorkflowWait;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of workflows whose histories are long. */
@Timeout(60)
class HistoryLimitTest extends WorkflowCase {
  private static final HistoryLimit TEN = new HistoryLimit(10, 1 << 20);

  private int incarnation = 10;

  private void restart(HistoryLimit limit) {
    long now = world.nowMicros();
    world = new StillWorld(NodeOptions.of("node", incarnation++).with(limit), store);
    long ahead = now - world.nowMicros() + 300 * Micros.PER_SECOND;
    pass(Duration.ofNanos(ahead * 1000));
  }

  private void steps(int from, int to) {
    for (int call = from; call <= to; call++) {
      assertThat(checkpoint(running(), done(call))).isTrue();
    }
  }

  private void fill() {
    restart(TEN);
    assertThat(checkpoint(running(), begun())).isTrue();
    steps(1, 8);
    assertThat(running().pauseRequested()).isFalse();
    steps(9, 9);
  }

  private void assertBlocked() {
    JobInfo info = view().info();
    assertThat(info.state()).isEqualTo(JobState.BLOCKED);
    assertThat(info.blockReason()).isEqualTo(BlockReason.LIMIT);
    assertThat(info.lastError().message()).contains("10 entries").contains("workflowHistory");
  }

  private void endActivation() {
    waitFor(WorkflowWait.until(world.nowMicros(), 0, 10));
  }

  @Test
  void workflowWhoseHistoryIsFullIsBlockedAndOthersAreNot() {
    fill();
    assertThat(running().pauseRequested()).isTrue();
    endActivation();

    assertBlocked();
    JobRef other = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    assertThat(running().ref()).isEqualTo(other);
  }

  @Test
  void itGoesOnUnderAHigherLimitAndNotUnderTheSame() {
    fill();
    endActivation();
    restart(TEN);
    assertThat(world.running()).isEmpty();
    assertBlocked();

    restart(new HistoryLimit(11, 1 << 20));
    assertThat(running().historyCount()).isEqualTo(10);
    steps(10, 10);
    assertThat(running().pauseRequested()).isTrue();
  }

  @Test
  void bytesCountToo() {
    restart(new HistoryLimit(1_000, 400));
    checkpoint(running(), begun());
    for (int call = 1; !running().pauseRequested(); call++) {
      steps(call, call);
    }
    endActivation();

    assertThat(view().info().blockReason()).isEqualTo(BlockReason.LIMIT);
  }

  @Test
  void fullWorkflowIsCancelledWithItsCompensations() {
    fill();
    endActivation();

    cancel();

    Attempt undoing = running();
    assertThat(undoing.ref()).isEqualTo(job);
    assertThat(history(undoing)).last().isInstanceOf(HistoryEntry.CancelRequested.class);
    assertThat(checkpoint(undoing, done(10))).isTrue();
    world.finishOne(new AttemptOutcome.Compensated(null));
    assertThat(state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void signalsReachAFullWorkflow() {
    fill();
    endActivation();

    assertThat(signal("go", "")).isEqualTo(SignalResult.DONE);

    assertThat(view().info().blockReason()).isEqualTo(BlockReason.LIMIT);
  }

  @Test
  void peopleAreWarnedOnceWhenAFifthIsReached() {
    fill();

    assertThat(world.news())
        .filteredOn(NodeEvent.LongHistory.class::isInstance)
        .singleElement()
        .extracting(event -> ((NodeEvent.LongHistory) event).entries())
        .isEqualTo(2);
  }
}
