package dev.carillon.engine.environment;

/**
 * How long the event history of a workflow may become. A workflow whose history has reached it
 * begins no further call and is blocked; it goes on under a higher limit. Compensations go on.
 *
 * @param entries how many entries
 * @param bytes how large they are together
 */
public record HistoryLimit(int entries, long bytes) {
  /** What holds where nobody says otherwise. */
  public static final HistoryLimit STANDARD = new HistoryLimit(50_000, 32 << 20);

  /** The part of it from which on people are warned: one in so many. */
  private static final int WARNED_AT = 5;

  /** Whether a history of that size has reached it. */
  public boolean isReached(int ofEntries, long ofBytes) {
    return ofEntries >= entries || ofBytes >= bytes;
  }

  /** Whether a history of that size is a good part of it. */
  public boolean isNear(int ofEntries, long ofBytes) {
    return (long) ofEntries * WARNED_AT >= entries || ofBytes >= bytes / WARNED_AT;
  }
}
