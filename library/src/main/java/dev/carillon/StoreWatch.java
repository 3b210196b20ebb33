package dev.carillon;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Logs when the store goes away and when it is back. It is away from the first call that finds it
 * unavailable, full or without an answer, until the last write and the last read have both gone
 * well. Any thread.
 */
final class StoreWatch {
  private static final long LONG_NANOS = Duration.ofSeconds(5).toNanos();
  private static final Duration AGAIN = Duration.ofMinutes(1);

  private final LogQueue log;
  private @Nullable String problem;
  private long sinceNanos;
  private volatile boolean away;

  StoreWatch(LogQueue log) {
    this.log = log;
    log.eachSecond(this::stillAway);
  }

  /** How the store is after a call: what is wrong with it, or null. */
  void saw(@Nullable String now) {
    if (now != null || away) {
      changed(now);
    }
  }

  private synchronized void changed(@Nullable String now) {
    long nanos = System.nanoTime();
    if (now == null && away) {
      away = false;
      line(Level.INFO, "back", "back after " + LogText.seconds(nanos - sinceNanos));
    } else if (now != null && !away) {
      away = true;
      sinceNanos = nanos;
      line(Level.INFO, "away", "away: " + LogText.safe(now));
    }
    problem = now;
  }

  private synchronized void stillAway() {
    String now = problem;
    long nanos = System.nanoTime() - sinceNanos;
    if (away && now != null && nanos >= LONG_NANOS) {
      String text = "still away after %s: %s".formatted(LogText.seconds(nanos), LogText.safe(now));
      log.post(
          LogQueue.Line.of(NodeLog.STORE, Level.WARN, "store still away", n -> text)
              .atMostEvery(AGAIN));
    }
  }

  private void line(Level level, String cause, String text) {
    log.post(LogQueue.Line.of(NodeLog.STORE, level, "store " + cause, n -> text));
  }
}
