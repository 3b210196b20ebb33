package dev.carillon;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Logs when the store goes away and when it is back. It is away from the first call that finds it
 * unavailable, full or without an answer, until the last write and the last read have both gone
 * well. While it is away something is asked of it each second: an idle node would not learn that it
 * is back. Any thread.
 */
final class StoreWatch {
  private static final long LONG_NANOS = Duration.ofSeconds(5).toNanos();
  private static final Duration AGAIN = Duration.ofMinutes(1);

  private final LogQueue log;
  private @Nullable String problem;
  private long sinceNanos;
  private volatile boolean away;
  private final AtomicBoolean reading = new AtomicBoolean();
  private volatile Runnable read = () -> {};

  StoreWatch(LogQueue log) {
    this.log = log;
    log.eachSecond(this::stillAway);
  }

  /** What is read while the store is away, on a thread of its own and one at a time. */
  void readWhileAway(Runnable something) {
    read = something;
  }

  /** Looks after a call at what is wrong with the store; null where nothing is. */
  void look(Supplier<@Nullable String> what) {
    if (away || what.get() != null) {
      changed(what);
    }
  }

  private synchronized void changed(Supplier<@Nullable String> what) {
    String now = what.get();
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

  private void stillAway() {
    if (away && reading.compareAndSet(false, true)) {
      Thread.ofVirtual().name("carillon-store-watch").start(this::readOnce);
    }
    tell();
  }

  private void readOnce() {
    try {
      read.run();
    } finally {
      reading.set(false);
    }
  }

  private synchronized void tell() {
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
