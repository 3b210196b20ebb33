package dev.carillon;

import dev.carillon.api.Metrics;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.replay.WorkflowRun;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Logs code of workflows that blocks outside of a step, with its stack: such a call is made again
 * whenever the code runs again, and nothing of it is recorded. Each place is told once.
 *
 * <p>Looks once a second on the log's thread. A thread is told of that was blocked in the same
 * place at two looks. A thread that waits for a processor is not blocked; after a look that came
 * late, as on a machine that has too much to do, the place has to be seen twice again.
 */
final class CodeWatch {
  private static final long LATE_NANOS = Duration.ofMillis(1_500).toNanos();
  private static final int MOST_PLACES = 1_000;
  private static final int MOST_LOOKS = 100;

  private final LogQueue log;
  private final Metrics metrics;
  private volatile @Nullable Runnable ask;

  /** Those that ran when the loop was asked last. */
  private volatile List<WorkflowAttempt> running = List.of();

  // The log's thread's own.
  private final Set<String> told = new HashSet<>();
  private Map<WorkflowAttempt, StackTraceElement[]> seen = new HashMap<>();
  private long lastNanos = System.nanoTime();

  CodeWatch(LogQueue log, Metrics metrics) {
    this.log = log;
    this.metrics = metrics;
    log.eachSecond(this::look);
  }

  /** There are workflows from now on: {@code next} has the loop say which of them run. */
  void begin(Runnable next) {
    ask = next;
  }

  /** Those that run; called on the loop. */
  void running(List<WorkflowAttempt> now) {
    running = now;
  }

  private void look() {
    Runnable next = ask;
    if (next == null) {
      return;
    }
    long now = System.nanoTime();
    boolean late = now - lastNanos > LATE_NANOS;
    lastNanos = now;
    Map<WorkflowAttempt, StackTraceElement[]> blocked = new HashMap<>();
    for (WorkflowAttempt activation : running) {
      WorkflowRun run = activation.run();
      if (run == null || activation.isOver() || blocked.size() == MOST_LOOKS) {
        continue;
      }
      StackTraceElement[] stack = run.blockedOutsideSteps();
      if (stack.length > 0) {
        blocked.put(activation, stack);
        if (!late && Arrays.equals(stack, seen.get(activation))) {
          tell(activation.attempt(), stack);
        }
      }
    }
    seen = blocked;
    running = List.of();
    next.run();
  }

  private void tell(Attempt attempt, StackTraceElement[] stack) {
    if (told.size() >= MOST_PLACES || !told.add(attempt.type() + Arrays.hashCode(stack))) {
      return;
    }
    metrics.count("workflows.blocking", 1);
    String type = LogText.safe(attempt.type());
    String text =
        "workflow blocks outside of a step: job %s (%s); the call is made again whenever the code runs again (expected: in a step, or a timer, signal or child of the workflow)%s"
            .formatted(attempt.id(), type, LogText.stack(WorkflowRun.text(stack)));
    log.post(LogQueue.Line.of(NodeLog.ATTEMPTS, Level.WARN, "workflow blocks " + type, n -> text));
  }
}
