package dev.carillon;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.job.Report;

/**
 * Brings what a handler reports to the loop, however often it reports: the loop is told that there
 * is something and takes what there is when it records it. Thread-safe.
 */
final class ReportRelay implements Report.Source {
  private final NodeLoop loop;
  private Report latest = Report.NOTHING;
  private boolean told;

  ReportRelay(NodeLoop loop) {
    this.loop = loop;
  }

  /** Adds to what an attempt has reported. */
  void report(Attempt attempt, Report report) {
    if (add(report)) {
      loop.post(new OnNode(loop, node -> node.report(attempt, this)));
    }
  }

  /** Whether the loop is to be told. */
  private synchronized boolean add(Report report) {
    latest = latest.then(report);
    boolean first = !told;
    told = true;
    return first;
  }

  @Override
  public synchronized Report take() {
    told = false;
    return latest;
  }
}
