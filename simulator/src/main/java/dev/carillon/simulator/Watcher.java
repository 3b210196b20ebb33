package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.engine.job.JobView;
import java.util.function.Consumer;

/** Watches one job as long as the node lives, and checks what it is told. */
final class Watcher implements Consumer<JobView> {
  private final long incarnation;
  private final ModelJob job;
  private boolean ended;

  Watcher(Life life, ModelJob job) {
    this.incarnation = life.incarnation;
    this.job = job;
  }

  @Override
  public void accept(JobView view) {
    if (job.bygone()) {
      return;
    }
    JobState state = view.info().state();
    check(!ended, Guarantee.HISTORY, () -> "a watcher hears more of " + job + " after its end");
    if (state.ended()) {
      ended = true;
      // Of a job on another node it is told what was read, and a dead letter may be replayed since.
      boolean replayed = state == JobState.DEAD && job.replays > 0;
      check(
          state == job.end || replayed,
          Guarantee.HISTORY,
          () -> "a watcher of " + job + " hears of " + state + ", it is " + job.end);
      check(
          (state == JobState.SUCCEEDED) == (view.result() != null),
          Guarantee.HISTORY,
          () -> "a watcher of " + job + " hears of no result, or of one that is none");
    }
  }

  /** Whether it has heard of the end, or need not have. */
  boolean satisfied() {
    return ended || job.bygone() || job.live() || job.endedBy != incarnation || !job.endTold;
  }

  @Override
  public String toString() {
    return "watcher of " + job;
  }
}
