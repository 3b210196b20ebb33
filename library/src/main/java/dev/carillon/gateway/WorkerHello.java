package dev.carillon.gateway;

import dev.carillon.api.error.InvalidArgumentException;
import java.util.List;
import java.util.Objects;

/**
 * A worker as it says hello.
 *
 * @param worker the name of this start of the worker, which no other start of any worker has; 1 to
 *     {@value #WORKER_MAX_CHARS} characters. It stands in the history of jobs
 * @param takes what it runs; 1 to {@value #TAKES_MAX}
 * @param leaseFirst whether each attempt is leased before the worker hears of it, which costs a
 *     write to the store for each; otherwise once it has lasted a second
 */
public record WorkerHello(String worker, List<WorkerTake> takes, boolean leaseFirst) {
  /** The longest name of a worker, in characters. */
  public static final int WORKER_MAX_CHARS = 200;

  /** The most takes of a worker. */
  public static final int TAKES_MAX = 1_000;

  /**
   * Checks the lengths.
   *
   * @throws InvalidArgumentException if one is out of range
   */
  public WorkerHello {
    Objects.requireNonNull(worker, "worker");
    if (worker.isBlank() || worker.length() > WORKER_MAX_CHARS) {
      throw InvalidArgumentException.of(
          "worker",
          worker.isBlank() ? "\"" + worker + "\"" : worker.length() + " characters",
          "a name of 1 to " + WORKER_MAX_CHARS + " characters");
    }
    takes = List.copyOf(takes);
    if (takes.isEmpty() || takes.size() > TAKES_MAX) {
      throw InvalidArgumentException.of("takes", takes.size(), "1 to " + TAKES_MAX);
    }
  }
}
