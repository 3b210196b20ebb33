package dev.carillon;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log what went wrong and nobody waits to hear: once per cause, and counts the rest.
 * Thread-safe. Payloads never come here.
 */
final class Reports {
  private static final Logger LOG = LoggerFactory.getLogger(Carillon.class);
  private static final int MAX_CAUSES = 256;

  private final Set<String> said = new HashSet<>();
  private final AtomicLong count = new AtomicLong();

  long count() {
    return count.get();
  }

  /** Never throws: the loops that come here must not die of a log, nor of a full heap. */
  void report(String problem, @Nullable Throwable cause) {
    count.incrementAndGet();
    try {
      if (isNew(cause == null ? problem : problem + keyOf(cause))) {
        LOG.warn("{} (further ones of this cause are only counted)", problem, cause);
      }
    } catch (Throwable e) {
      count.incrementAndGet();
    }
  }

  /** For who looks into it; not logged by default. */
  void tell(String format, Object about) {
    try {
      LOG.debug(format, about);
    } catch (Throwable e) {
      count.incrementAndGet();
    }
  }

  private static String keyOf(Throwable cause) {
    StackTraceElement[] stack = cause.getStackTrace();
    return cause.getClass().getName() + (stack.length > 0 ? stack[0] : "");
  }

  private synchronized boolean isNew(String key) {
    if (said.size() >= MAX_CAUSES) {
      said.clear();
    }
    return said.add(key);
  }
}
