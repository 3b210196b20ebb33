package dev.carillon.engine.worker;

import dev.carillon.api.AttemptToken;
import java.util.List;

/**
 * A worker that is connected, as of a moment.
 *
 * @param room how many more attempts it could be given
 * @param runs what it has of this node's jobs
 */
public record WorkerLook(
    WorkerHello hello, int room, boolean draining, long silentNanos, List<Run> runs) {

  /** An attempt that it has. */
  public record Run(
      AttemptToken token, String type, long startedMicros, boolean accepted, boolean leased) {}
}
