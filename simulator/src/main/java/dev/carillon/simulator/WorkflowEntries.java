package dev.carillon.simulator;

import dev.carillon.engine.job.HistoryEntry;

/** Of entries of histories what the checker asks. */
final class WorkflowEntries {
  private WorkflowEntries() {}

  /** The number of the call that made it; 0 where none did. */
  static int call(HistoryEntry entry) {
    return switch (entry) {
      case HistoryEntry.StepDone e -> e.call();
      case HistoryEntry.StepFailed e -> e.call();
      case HistoryEntry.StepBegun e -> e.call();
      case HistoryEntry.TimerSet e -> e.call();
      case HistoryEntry.TimerFired e -> e.call();
      case HistoryEntry.SignalAwaited e -> e.call();
      case HistoryEntry.VersionChosen e -> e.call();
      case HistoryEntry.ChildStarted e -> e.call();
      case HistoryEntry.ChildEnded e -> e.call();
      default -> 0;
    };
  }
}
