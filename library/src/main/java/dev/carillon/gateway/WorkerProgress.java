package dev.carillon.gateway;

import dev.carillon.api.Limits;

/**
 * How far a job is, as its worker reports it.
 *
 * @param done how much is done; {@link #UNKNOWN} exactly where {@code total} is
 * @param total of how much, at least {@code done}
 * @param message what is going on; at most {@link Limits#REASON_MAX_BYTES}, may be empty
 */
public record WorkerProgress(long done, long total, String message) {
  /** In the place of numbers that are not known. */
  public static final long UNKNOWN = -1;

  /**
   * Checks the ranges.
   *
   * @throws dev.carillon.api.error.InvalidArgumentException if one is out of range
   */
  public WorkerProgress {
    if (done != UNKNOWN || total != UNKNOWN) {
      Limits.checkProgress(done, total);
    }
    message = Limits.checkMessage(message);
  }
}
