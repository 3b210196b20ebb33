package dev.carillon.api;

/**
 * Where the figures of the jobs of one type, queue and namespace go. Called by the node's loop for
 * every attempt: implementations must be quick and must not block or throw.
 */
public interface JobMeter {

  /**
   * An attempt starts.
   *
   * @param latenessNanos how long after its due time, in nanoseconds
   */
  void started(long latenessNanos);

  /**
   * A handler has returned.
   *
   * @param nanos how long it took, in nanoseconds
   */
  void returned(long nanos);

  /** An attempt failed. */
  void failed();

  /** A job, or an occurrence of a recurring job, became a dead letter. */
  void died();

  /**
   * A meter that keeps nothing.
   *
   * @return the same instance each time
   */
  static JobMeter none() {
    return NoJobMeter.INSTANCE;
  }
}
