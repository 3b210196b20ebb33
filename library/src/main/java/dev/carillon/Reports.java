package dev.carillon;

import dev.carillon.api.JobError;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Says in the log what went wrong and nobody waits to hear: at most once a minute per cause, with
 * the number of the others, and counts all. Thread-safe. Payloads never come here.
 */
final class Reports {
  private static final Duration AGAIN = Duration.ofMinutes(1);

  private final LogQueue log;
  private final AtomicLong count = new AtomicLong();

  Reports(LogQueue log) {
    this.log = log;
  }

  long count() {
    return count.get();
  }

  /** Never throws: the loops that come here must not die of a log, nor of a full heap. */
  void report(String problem, @Nullable Throwable cause) {
    count.incrementAndGet();
    try {
      String key = cause == null ? problem : problem + keyOf(cause);
      log.post(
          LogQueue.Line.of(NodeLog.NODE, Level.WARN, key, n -> text(problem, cause))
              .atMostEvery(AGAIN));
    } catch (Throwable e) {
      count.incrementAndGet();
    }
  }

  private static String text(String problem, @Nullable Throwable cause) {
    String stack = cause == null ? "" : LogText.stack(JobError.of(cause).stack());
    return LogText.safe(problem) + stack;
  }

  /** For who looks into it; not logged by default. */
  void tell(String text) {
    log.post(LogQueue.Line.of(NodeLog.NODE, Level.DEBUG, text, n -> text));
  }

  private static String keyOf(Throwable cause) {
    StackTraceElement[] stack = cause.getStackTrace();
    return cause.getClass().getName() + (stack.length > 0 ? stack[0] : "");
  }
}
