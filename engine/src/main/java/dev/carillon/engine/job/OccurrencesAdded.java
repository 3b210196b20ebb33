package dev.carillon.engine.job;

import dev.carillon.api.ControlResult;
import dev.carillon.store.Outcome;
import java.util.List;

/** Hears what came of a request for extra occurrences: their jobs, or why there are none. */
public interface OccurrencesAdded {
  /** The occurrences are durable. */
  void added(List<JobRef> jobs);

  /** There are none. */
  void refused(Outcome<ControlResult> why);
}
