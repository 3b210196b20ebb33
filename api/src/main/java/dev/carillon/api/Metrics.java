package dev.carillon.api;

/**
 * Where counters, timers and gauges go. Called often and from several threads: implementations must
 * be thread-safe, quick and must not block or throw. Names are a small fixed set of lower-case
 * words with dots, never made from names of users' jobs.
 */
public interface Metrics {

  /**
   * Adds to a counter.
   *
   * @param name the counter
   * @param delta how many, not negative
   */
  void count(String name, long delta);

  /**
   * Records how long something took.
   *
   * @param name the timer
   * @param nanos the time in nanoseconds
   */
  void time(String name, long nanos);

  /**
   * Sets a gauge.
   *
   * @param name the gauge
   * @param value its value now
   */
  void gauge(String name, long value);

  /**
   * Metrics that go nowhere, the default.
   *
   * @return the same instance each time
   */
  static Metrics none() {
    return NoMetrics.INSTANCE;
  }
}
