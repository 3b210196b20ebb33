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
   * The meter of the jobs of a type, queue and namespace. Asked for once, before the first attempt
   * of such a job, and again after a while without any. These words come from users: where a node
   * has seen {@value #MOST_VALUES} values of one of them it says {@value #OTHERS} for the next.
   *
   * @param type the name of the type
   * @param queue the queue
   * @param namespace the namespace
   * @return where their figures go; nowhere by default
   */
  default JobMeter jobs(String type, String queue, String namespace) {
    return JobMeter.none();
  }

  /** How many types, queues and namespaces a node tells apart, each. */
  int MOST_VALUES = 256;

  /** What it says for all the others. */
  String OTHERS = "others";

  /**
   * Metrics that go nowhere, the default.
   *
   * @return the same instance each time
   */
  static Metrics none() {
    return NoMetrics.INSTANCE;
  }
}
