package dev.carillon.replay;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The threads and timers of the runs of workflows. Nothing here blocks but {@link #park}. */
public interface RunThreads {

  /** A thread for a step, not started. */
  Thread newThread(Runnable step);

  /** Runs an action after a while, on any thread, unless it is cancelled before. */
  WorkflowHost.Cancellable after(Duration delay, Runnable action);

  /** Calls {@link WorkflowRun#wake} soon, of this run and perhaps of many in one go. */
  void wake(WorkflowRun run);

  /**
   * Parks the thread of a run, which calls this, until {@link #wake}, an interrupt, or for so long;
   * 0 for any time. It may return before.
   */
  default void park(WorkflowRun run, long nanos) {
    if (nanos > 0) {
      LockSupport.parkNanos(run, nanos);
    } else {
      LockSupport.park(run);
    }
  }
}
