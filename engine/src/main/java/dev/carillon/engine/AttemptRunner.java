package dev.carillon.engine;

/** Runs handlers beside the loop. Both methods are called on the loop and return at once. */
public interface AttemptRunner {

  /** Runs the handler; exactly one {@link Node#finished} follows, also when it throws. */
  void start(Attempt attempt);

  /** Interrupts the handler's thread, if it still runs. */
  void interrupt(Attempt attempt);
}
