package dev.carillon.engine.worker;

import java.util.List;

/**
 * A worker as it says hello.
 *
 * @param worker the name of this start of the worker, which no other has
 * @param takes what it runs
 * @param leaseFirst whether each attempt is leased before the worker hears of it
 */
public record WorkerHello(String worker, List<WorkerTake> takes, boolean leaseFirst) {
  /** So many takes a worker may have. */
  public static final int MOST_TAKES = 1_000;

  private static final int LONGEST_NAME = 200;

  public WorkerHello {
    if (worker.isEmpty() || worker.length() > LONGEST_NAME) {
      throw new IllegalArgumentException(
          "worker: a name of " + worker.length() + " characters (expected: 1 to 200)");
    }
    if (takes.isEmpty() || takes.size() > MOST_TAKES) {
      throw new IllegalArgumentException(
          "takes: " + takes.size() + " (expected: 1 to " + MOST_TAKES + ")");
    }
    takes = List.copyOf(takes);
  }
}
