package dev.carillon.replay;

import dev.carillon.api.Limits;
import dev.carillon.engine.job.Report;

/**
 * What the workflow reports of itself, from its own thread and those of its steps. What the code
 * reports while it runs again is told once it does something new: a crash may have come between the
 * report and its record. Thread-safe.
 */
final class Reporting {
  private final WorkflowHost host;
  private Report untold = Report.NOTHING;

  Reporting(WorkflowHost host) {
    this.host = host;
  }

  static Report progress(long done, long total, String message) {
    Limits.checkProgress(done, total);
    return new Report(done, total, Limits.checkMessage(message), null, false);
  }

  static Report progress(String message) {
    return new Report(Report.UNKNOWN, Report.UNKNOWN, Limits.checkMessage(message), null, false);
  }

  /** Reports something, which is told later where the code runs again. */
  synchronized void report(Report report, boolean replaying) {
    untold = untold.then(report);
    if (!replaying) {
      live();
    }
  }

  /** The code does something that it did not do before. */
  synchronized void live() {
    if (untold.isOfProgress() || untold.isOfPublished()) {
      host.report(untold);
      untold = Report.NOTHING;
    }
  }
}
