package dev.carillon;

import dev.carillon.engine.attempt.Attempt;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.event.Level;

/**
 * Logs handlers that go on although they were interrupted, for a timeout, say: once each, with the
 * stack of the handler's thread, and once more when it returns. As many are watched as attempts are
 * under way.
 */
final class HandlerWatch {
  private static final long PATIENCE_NANOS = Duration.ofSeconds(2).toNanos();

  private final LogQueue log;
  private final Queue<Watched> all = new ConcurrentLinkedQueue<>();

  private static final class Watched {
    private final RunningAttempt run;
    private final String why;
    private final long sinceNanos = System.nanoTime();
    private boolean told;

    Watched(RunningAttempt run, String why) {
      this.run = run;
      this.why = why;
    }
  }

  HandlerWatch(LogQueue log) {
    this.log = log;
    log.eachSecond(this::look);
  }

  /** The handler is being interrupted; on the loop. */
  void interrupted(RunningAttempt run, String why) {
    all.add(new Watched(run, why));
  }

  private void look() {
    long now = System.nanoTime();
    all.removeIf(watched -> look(watched, now));
  }

  private boolean look(Watched watched, long now) {
    boolean returned = watched.run.isOver();
    long nanos = now - watched.sinceNanos;
    if (returned && watched.told) {
      line(
          watched,
          Level.INFO,
          "returned",
          "handler returned at last, %s after".formatted(LogText.seconds(nanos)),
          "");
    } else if (!returned && !watched.told && nanos >= PATIENCE_NANOS) {
      watched.told = true;
      String stack = watched.run.stack();
      line(
          watched,
          Level.WARN,
          "goes on",
          "handler goes on %s after".formatted(LogText.seconds(nanos)),
          LogText.stack(stack));
    }
    return returned;
  }

  private void line(Watched watched, Level level, String cause, String text, String stack) {
    Attempt attempt = watched.run.attempt();
    String type = LogText.safe(attempt.type());
    String all =
        "%s it was interrupted (%s): job %s (%s), attempt %d%s"
            .formatted(text, watched.why, attempt.id(), type, attempt.number(), stack);
    log.post(LogQueue.Line.of(NodeLog.ATTEMPTS, level, "handler " + cause + type, n -> all));
  }
}
