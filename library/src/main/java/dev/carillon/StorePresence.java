package dev.carillon;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store is known to be away: writes have failed for a second, the last of them within
 * ten seconds, and none was answered in that time. While it is away, new jobs are refused at once
 * instead of waiting.
 *
 * <ol>
 *   <li>Any write that the store answers ends the absence. A node that shares its store writes a
 *       heartbeat twice a second, so that is noticed soon.
 *   <li>One request goes through every 1.2 seconds, and finds out where nobody else does.
 *   <li>Only requests of which nothing was sent are refused: a refused job was not scheduled.
 * </ol>
 *
 * <p>Thread-safe, but for {@link #refusalOfNew}, which the loop alone calls.
 */
final class StorePresence {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A failure that long ago says nothing about now: nobody has tried since. */
  private static final long LAPSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Longer than the longest pause between two tries of an append. */
  private static final long PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(1_200);

  private volatile @Nullable Absence absence;
  private long probedNanos = System.nanoTime();

  private record Absence(long sinceNanos, long lastNanos, String detail) {}

  /** A write was answered. */
  void isThere() {
    if (absence != null) {
      synchronized (this) {
        absence = null;
      }
    }
  }

  /** A write got no answer. */
  synchronized void failed(String detail) {
    Absence known = absence;
    long now = System.nanoTime();
    long since = known != null && now - known.lastNanos() < LAPSE_NANOS ? known.sinceNanos() : now;
    absence = new Absence(since, now, detail);
  }

  /** How the store is away; null where it is not, as far as is known. */
  @Nullable String refusal() {
    Absence known = absence;
    return known == null
            || known.lastNanos() - known.sinceNanos() < PATIENCE_NANOS
            || System.nanoTime() - known.lastNanos() >= LAPSE_NANOS
        ? null
        : known.detail();
  }

  /** Why a new request is refused; null where it goes through. */
  @Nullable String refusalOfNew() {
    String away = refusal();
    if (away != null && System.nanoTime() - probedNanos >= PROBE_NANOS) {
      probedNanos = System.nanoTime();
      return null;
    }
    return away;
  }
}
