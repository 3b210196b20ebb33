package dev.carillon;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.MDC;
import org.slf4j.event.Level;

/**
 * Writes lines to the log on a thread of its own, so that neither the loop nor a handler waits for
 * an appender. Up to {@value #MOST_WAITING} lines wait; further ones are dropped, counted, and the
 * count is logged.
 *
 * <p>Each line names its cause. Lines of one cause come at least a second apart: the newest of them
 * is written when the second is over, with the number of those left out.
 */
final class LogQueue {
  static final int MOST_WAITING = 1024;
  private static final int MOST_CAUSES = 1024;
  static final long SECOND_NANOS = 1_000_000_000;

  private final LinkedBlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>(MOST_WAITING);
  private final AtomicLong dropped = new AtomicLong();
  private final Thread thread;
  private final Logger ownLog;
  private volatile boolean closing;
  private volatile @Nullable Line lastLine;
  private volatile String nodeId = "";

  // The thread's own.
  private final Map<String, Cause> causes = new LinkedHashMap<>(16, 0.75f, true);
  private final List<Runnable> eachSecond = new ArrayList<>();
  private long nextSecondNanos;
  private long nextReleaseNanos;

  /**
   * A line of the log.
   *
   * @param cause lines of one cause come at least {@code everyNanos} apart
   * @param gathers whether it waits for that time, to be written once with the number of events
   * @param text the line, of so many events
   * @param context what stands in the MDC beside it
   */
  record Line(
      Logger logger,
      Level level,
      String cause,
      long everyNanos,
      boolean gathers,
      LongFunction<String> text,
      Map<String, String> context) {

    static Line of(Logger logger, Level level, String cause, LongFunction<String> text) {
      return new Line(logger, level, cause, SECOND_NANOS, false, text, Map.of());
    }

    Line gathering() {
      return new Line(logger, level, cause, everyNanos, true, text, context);
    }

    Line atMostEvery(Duration every) {
      return new Line(logger, level, cause, every.toNanos(), gathers, text, context);
    }

    Line about(Map<String, String> job) {
      return new Line(logger, level, cause, everyNanos, gathers, text, job);
    }
  }

  private static final class Cause {
    private long sinceNanos;
    private long held;
    private @Nullable Line newest;
  }

  LogQueue(Logger ownLog) {
    this.ownLog = ownLog;
    this.thread = Thread.ofPlatform().daemon().name("carillon-log").unstarted(this::run);
  }

  /** Called once; lines that were posted before are written then. */
  void start(String ofNode) {
    nodeId = ofNode;
    thread.start();
  }

  String nodeId() {
    return nodeId;
  }

  /** Does something once a second on the log's thread; called before the start. */
  void eachSecond(Runnable action) {
    eachSecond.add(action);
  }

  /** Has a line written; any thread, never waits, never throws. */
  void post(Line line) {
    if (line.logger().isEnabledForLevel(line.level())) {
      post(() -> take(line));
    }
  }

  private void post(Runnable event) {
    if (closing || !waiting.offer(event)) {
      dropped.incrementAndGet();
    }
  }

  /** Writes what waits, what is held back and a last line; waits at most for the limit. */
  void close(Line last, Duration limit) {
    lastLine = last;
    closing = true;
    boolean unused = waiting.offer(this::turnAgain);
    try {
      unused = thread.join(limit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- the thread

  /** Being awake is enough: the thread looks whether it is to end. */
  private void turnAgain() {}

  private void run() {
    MDC.put(JobContextMap.NODE, nodeId);
    nextSecondNanos = System.nanoTime() + SECOND_NANOS;
    nextReleaseNanos = nextSecondNanos;
    while (!closing || !waiting.isEmpty()) {
      try {
        turn();
      } catch (InterruptedException e) {
        closing = true; // somebody ends the threads of this process
      } catch (Throwable e) {
        dropped.incrementAndGet(); // an appender threw: the next line may fare better
      }
    }
    causes.values().forEach(cause -> writeHeld(cause, System.nanoTime()));
    tellDropped();
    Line last = lastLine;
    if (last != null) {
      write(last, last.text().apply(1));
    }
  }

  private void turn() throws InterruptedException {
    long untilNext = Math.min(nextSecondNanos, nextReleaseNanos) - System.nanoTime();
    Runnable next = waiting.poll(Math.max(0, untilNext), TimeUnit.NANOSECONDS);
    if (next != null) {
      next.run();
    }
    long now = System.nanoTime();
    if (now - nextReleaseNanos >= 0) {
      release(now);
    }
    if (now - nextSecondNanos >= 0) {
      nextSecondNanos = now + SECOND_NANOS;
      tellDropped();
      eachSecond.forEach(Runnable::run);
    }
  }

  private void take(Line line) {
    long now = System.nanoTime();
    Cause cause = causes.get(line.cause());
    if (cause == null || (cause.held == 0 && now - cause.sinceNanos >= line.everyNanos())) {
      cause = begin(line.cause(), now);
      if (!line.gathers()) {
        write(line, line.text().apply(1));
        return;
      }
    }
    cause.held++;
    cause.newest = line;
    nextReleaseNanos = Math.min(nextReleaseNanos, cause.sinceNanos + line.everyNanos());
  }

  private Cause begin(String name, long now) {
    Cause cause = causes.computeIfAbsent(name, n -> new Cause());
    cause.sinceNanos = now;
    if (causes.size() > MOST_CAUSES) {
      Map.Entry<String, Cause> eldest = causes.entrySet().iterator().next();
      writeHeld(eldest.getValue(), now);
      causes.remove(eldest.getKey());
    }
    return cause;
  }

  /** Writes what was held back for long enough. */
  private void release(long now) {
    nextReleaseNanos = now + SECOND_NANOS;
    for (Cause cause : causes.values()) {
      Line newest = cause.newest;
      if (newest != null) {
        long over = cause.sinceNanos + newest.everyNanos();
        if (now - over >= 0) {
          writeHeld(cause, now);
        } else {
          nextReleaseNanos = Math.min(nextReleaseNanos, over);
        }
      }
    }
  }

  private void writeHeld(Cause cause, long now) {
    Line line = cause.newest;
    if (line == null) {
      return;
    }
    long events = cause.held;
    String text = line.text().apply(line.gathers() ? events : 1);
    if (!line.gathers() && events > 1) {
      text = withCount(text, events - 1, now - cause.sinceNanos);
    }
    cause.held = 0;
    cause.newest = null;
    cause.sinceNanos = now;
    write(line, text);
  }

  /** The number stands on the first line, before the stack trace. */
  private static String withCount(String text, long more, long nanos) {
    int end = text.indexOf('\n') < 0 ? text.length() : text.indexOf('\n');
    String count = " (and %,d more in the last %s)".formatted(more, span(nanos));
    return text.substring(0, end) + count + text.substring(end);
  }

  private static String span(long nanos) {
    long seconds = Math.round(nanos / 1e9);
    return seconds <= 1 ? "second" : seconds + " s";
  }

  private static void write(Line line, String text) {
    if (line.context().isEmpty()) {
      line.logger().atLevel(line.level()).log(text);
      return;
    }
    line.context().forEach(MDC::put);
    try {
      line.logger().atLevel(line.level()).log(text);
    } finally {
      line.context().keySet().forEach(MDC::remove);
    }
  }

  private void tellDropped() {
    long lines = dropped.getAndSet(0);
    if (lines > 0) {
      ownLog.warn("{} lines were dropped: the log is slower than the node", lines);
    }
  }
}
