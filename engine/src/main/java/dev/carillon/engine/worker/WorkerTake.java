package dev.carillon.engine.worker;

/**
 * What a worker takes: the jobs of a namespace, a queue and a type, each of which may be any.
 *
 * @param namespace empty for any
 * @param queue empty for any
 * @param type empty for every type of the queue
 * @param leaseMicros how long the worker may be silent while it runs such a job
 */
public record WorkerTake(String namespace, String queue, String type, long leaseMicros) {
  /** Twenty seconds. */
  public static final long LEASE_MICROS = 20_000_000;

  /** A shorter lease is no time for a beat, a longer one no answer to a death. */
  private static final long SHORTEST_MICROS = 5_000_000;

  private static final long LONGEST_MICROS = 3_600_000_000L;

  public WorkerTake {
    if (leaseMicros < SHORTEST_MICROS || leaseMicros > LONGEST_MICROS) {
      throw new IllegalArgumentException(
          "lease: " + leaseMicros + " µs (expected: 5 seconds to an hour)");
    }
  }

  /** The jobs of a type, wherever they are, by the usual lease. */
  public static WorkerTake type(String type) {
    return new WorkerTake("", "", type, LEASE_MICROS);
  }

  boolean takes(String ofNamespace, String ofQueue) {
    return (namespace.isEmpty() || namespace.equals(ofNamespace))
        && (queue.isEmpty() || queue.equals(ofQueue));
  }
}
