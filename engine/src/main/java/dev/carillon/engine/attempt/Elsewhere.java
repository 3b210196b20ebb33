package dev.carillon.engine.attempt;

import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.shard.NodeJob;
import org.jspecify.annotations.Nullable;

/**
 * Runs the handlers of this node's attempts outside this node: on other nodes, and in workers that
 * are connected. The attempt keeps its limits here, and its outcome is written here.
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

  /** The workers that are connected. */
  ToWorkers workers();

  /** How long until the attempts that run here for other nodes have run for that time; 0 if so. */
  long waitUntilBorrowedLasted(long nanos);

  /** What only concerns attempts in workers. */
  interface ToWorkers {
    /** What is known of a worker as an attempt of the job begins; null where it is a node. */
    @Nullable WorkerRun begin(long borrower, NodeJob job);

    /** A lease of an earlier owner's was found: its worker has the attempt. */
    void adopted(Attempt attempt, WorkerRun worker);

    /** The shard of an attempt that a worker runs is no longer this node's. */
    void disowned(Attempt attempt);

    /** The node stops: what workers have goes on under the next owner. */
    void beginStop();
  }
}
