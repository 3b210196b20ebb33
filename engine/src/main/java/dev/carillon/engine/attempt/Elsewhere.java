package dev.carillon.engine.attempt;

import dev.carillon.engine.job.HistoryEntry;

/**
 * Runs the handlers of this node's attempts outside this node, on other nodes today. This is the
 * seam for remote workers: the attempt keeps its limits here, and its outcome is written here.
 */
public interface Elsewhere {
  /** The borrower of the attempt is to call its handler. */
  void lend(Attempt attempt);

  /** A lent attempt is asked to save and return, or to stop now. */
  void recall(Attempt attempt, boolean now);

  /** Does {@code then} once the handler of a lent attempt knows of that, or can do nothing more. */
  void recalled(Attempt attempt, boolean now, Runnable then);

  /** The history of a lent attempt's workflow has an entry more, its {@code count}th. */
  void recorded(Attempt attempt, int count, HistoryEntry entry);

  /** How long until the attempts that run here for other nodes have run for that time; 0 if so. */
  long waitUntilBorrowedLasted(long nanos);
}
