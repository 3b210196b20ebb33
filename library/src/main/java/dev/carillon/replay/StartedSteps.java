package dev.carillon.replay;

import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.StepBegun;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The steps that run beside the code, each try on a thread of its own. What a try ends with is
 * written by its thread; the code sees it once it waits. The next try of one that failed is made
 * while the code waits.
 */
final class StartedSteps {
  private final WorkflowRun run;
  private final WorkflowHost host;
  private final Tries tries;

  /** Without an end in the history, as far as the workflow's thread has seen. */
  private final List<StartedStep> open = new CopyOnWriteArrayList<>();

  private volatile boolean stopping;

  StartedSteps(WorkflowRun run, WorkflowHost host, Tries tries) {
    this.run = run;
    this.host = host;
    this.tries = tries;
  }

  /** The code starts a step that has no end yet. */
  void add(StepCall call) {
    open.add(new StartedStep(call));
  }

  /** Makes the next try of those that are due; on the workflow's thread. */
  void launchDue() {
    run.dueSteps().forEach(this::launch);
  }

  /** Those whose next try is due; with the run's lock held, and all seen that is durable. */
  List<StartedStep> due(History history, long now) {
    if (open.isEmpty()) {
      return List.of();
    }
    open.removeIf(step -> hasEnded(step, history));
    List<StartedStep> due = new ArrayList<>();
    for (StartedStep step : open) {
      if (mayRun(step, history) && nextAt(step, history) <= now) {
        due.add(step);
      }
    }
    return due;
  }

  private static boolean hasEnded(StartedStep step, History history) {
    RecordedCall recorded = history.call(step.call.number());
    return recorded != null && recorded.isEnded();
  }

  private boolean mayRun(StartedStep step, History history) {
    return !history.isStopped() && !step.running && run.isDurable(step.posted) && !stopping;
  }

  private static long nextAt(StartedStep step, History history) {
    RecordedCall recorded = history.call(step.call.number());
    return recorded == null ? 0 : recorded.nextAt;
  }

  /** Adds the next tries to what the node is told of a wait. */
  void addTo(WaitList list, History history) {
    for (StartedStep step : open) {
      if (!hasEnded(step, history) && mayRun(step, history)) {
        list.until(nextAt(step, history));
      }
    }
  }

  boolean areRunning() {
    for (StartedStep step : open) {
      if (step.running) {
        return true;
      }
    }
    return false;
  }

  /** Whether all have come to their ends, or will not. */
  boolean areOver(History history) {
    for (StartedStep step : open) {
      if (!hasEnded(step, history) && (step.running || !history.isStopped())) {
        return false;
      }
    }
    return true;
  }

  /** Makes the next try of a step on a thread of its own. */
  void launch(StartedStep step) {
    RecordedCall recorded = run.history().call(step.call.number());
    StepTry next = tries.next(step.call, recorded);
    if (recorded != null && recorded.isOpen) {
      step.posted = run.post(tries.cutOff(next));
      return;
    }
    if (step.call.options().isAtMostOnce()) {
      run.write(
          new StepBegun(host.wallMicros(), step.call.number(), step.call.name(), next.attempt()));
      if (run.activation().pauseRequested()) {
        step.posted = run.post(tries.putOff(next));
        return;
      }
    }
    step.running = true;
    try {
      Thread thread = host.newThread(() -> make(step, next));
      step.thread = thread;
      thread.start();
    } catch (Throwable e) {
      step.running = false;
      throw e;
    }
  }

  private void make(StartedStep step, StepTry next) {
    try {
      HistoryEntry entry = next.make();
      // What was interrupted because the handler has ended did not fail by itself.
      if (!run.isUnwinding() && (!stopping || entry instanceof StepDone)) {
        step.posted = run.post(entry);
      }
    } finally {
      step.thread = null;
      step.running = false;
      host.wake(run);
    }
  }

  /** Interrupts those that run. May block for as long as closing a channel. */
  void interrupt() {
    for (StartedStep step : open) {
      interrupt(step.thread);
    }
  }

  private static void interrupt(@Nullable Thread thread) {
    if (thread != null) {
      thread.interrupt();
    }
  }

  /** The handler has ended: interrupts those that run and waits for their threads. */
  void stop() {
    stopping = true;
    interrupt();
    run.awaitQuiet();
  }
}
