package dev.carillon.engine.attempt;

import org.jspecify.annotations.Nullable;

/**
 * An attempt that a worker outside the nodes runs, as its owner sees it. Only the loop uses it.
 *
 * <p>The journal has the lease ({@link Attempt#isLeased}); what is here is lost with the owner.
 */
public final class WorkerRun {
  /** The worker, as people know it. */
  public final String worker;

  /** How long the worker may be silent once the attempt is leased. */
  public final long lengthMicros;

  /** The worker says that it has the attempt. */
  public boolean accepted;

  /** When the worker was heard last of the attempt, where no connection of it says so. */
  public long heardNanos;

  /** Another node answers beats for it: its shard does not go before that has ended. */
  public boolean renewedElsewhere;

  /** The lease is on its way to the journal. */
  boolean leasing;

  /** What became of the outcome. */
  private Fate fate = Fate.OPEN;

  /** Runs when nothing of the attempt is left on this node. */
  private @Nullable Runnable whenLeft;

  private boolean left;

  /** What became of an outcome. */
  public enum Fate {
    OPEN,
    /** It is durable, or there was nothing to write. */
    DURABLE,
    /** The job had gone on without it. */
    STALE,
    /** Nobody knows: another owner may. */
    UNKNOWN
  }

  public WorkerRun(String worker, long lengthMicros) {
    this.worker = worker;
    this.lengthMicros = lengthMicros;
  }

  /** Whether the lease is on its way to the journal. */
  public boolean isLeasing() {
    return leasing;
  }

  public Fate fate() {
    return fate;
  }

  void fate(Fate now) {
    fate = now;
  }

  /** Whether nothing of the attempt is left on this node. */
  public boolean hasLeft() {
    return left;
  }

  /** {@code then} runs when nothing of the attempt is left on this node. */
  public void whenLeft(Runnable then) {
    whenLeft = then;
  }

  void leave() {
    left = true;
    if (whenLeft != null) {
      whenLeft.run();
    }
  }
}
