package dev.carillon.bench;

import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/** The heap as it is once everything unreachable is gone. */
final class Heap {
  private static final int COLLECTIONS = 4;
  private static final long PAUSE_NANOS = 100_000_000;

  private Heap() {}

  /**
   * Collects until nothing more goes and says what is left. Several times, with pauses: cleaners
   * and reference queues need a round each.
   */
  static long usedBytes() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      LockSupport.parkNanos(PAUSE_NANOS);
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }
}
