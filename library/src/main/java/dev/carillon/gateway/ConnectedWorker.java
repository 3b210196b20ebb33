package dev.carillon.gateway;

import dev.carillon.api.AttemptToken;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * A worker that is connected to a node.
 *
 * @param worker its name
 * @param takes what it takes
 * @param room how many more attempts it could be given now
 * @param draining whether it takes nothing more
 * @param silent how long nothing was heard of it
 * @param runs the attempts that it has of this node's jobs
 */
public record ConnectedWorker(
    String worker,
    List<WorkerTake> takes,
    int room,
    boolean draining,
    Duration silent,
    List<Running> runs) {
  /** Checks the lists. */
  public ConnectedWorker {
    takes = List.copyOf(takes);
    runs = List.copyOf(runs);
  }

  /**
   * An attempt in a worker.
   *
   * @param token its token, which names the job
   * @param type the type of the job
   * @param started when it began
   * @param accepted whether the worker has said that it has it
   * @param leased whether the journal has its lease
   */
  public record Running(
      AttemptToken token, String type, Instant started, boolean accepted, boolean leased) {}
}
