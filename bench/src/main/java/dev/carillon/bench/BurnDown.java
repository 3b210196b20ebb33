package dev.carillon.bench;

/** A scheduler that works off jobs which wait for it in the database, all of them due. */
interface BurnDown {
  /** How many jobs a batch has when they are enqueued. */
  int BATCH = 1_000;

  /**
   * How it went.
   *
   * @param enqueued jobs a second, by the batch API
   * @param perSecond jobs a second, from the start of the scheduler to the last end being durable
   * @param nothingLeft whether the database says that all are done
   */
  record Drained(double enqueued, double perSecond, boolean nothingLeft) {}

  /** Enqueues so many, starts the scheduler and waits until all are done. */
  Drained run(int jobs) throws InterruptedException;

  static double perSecond(int jobs, long sinceNanos) {
    return jobs * 1e9 / Math.max(1, System.nanoTime() - sinceNanos);
  }
}
