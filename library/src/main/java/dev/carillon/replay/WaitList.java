package dev.carillon.replay;

import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.engine.job.WorkflowWait.AwaitedSignal;
import java.util.ArrayList;
import java.util.List;

/** Collects what the node is told of a wait. */
final class WaitList {
  private final List<AwaitedSignal> signals = new ArrayList<>();
  private final List<Integer> children = new ArrayList<>();
  private long until = WorkflowWait.FOR_EVER;
  private boolean all;

  /** At most until then. */
  void until(long micros) {
    until = Math.min(until, micros);
  }

  void signal(String type, int count) {
    signals.add(new AwaitedSignal(type, count));
  }

  void child(int call) {
    children.add(call);
  }

  /** Until all of them have come, if these are children alone. */
  void all() {
    all = true;
  }

  long until() {
    return until;
  }

  WorkflowWait toWait(int signalsRead, int seen) {
    boolean childrenAlone = signals.isEmpty() && until == WorkflowWait.FOR_EVER;
    return new WorkflowWait(until, all && childrenAlone, signals, children, signalsRead, seen);
  }
}
