package dev.carillon.engine.attempt;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.dispatch.HandlerSlot;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.shard.NodeJob;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Asks attempts to stop: when their time is over, by request, or with their shard or node. */
public final class Stops {
  /** How long what follows a timeout may be thought about; then the policy says. */
  private static final long JUDGED_WITHIN_NANOS = 10_000_000_000L;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Timers timers;
  private final AttemptRunner runner;
  private final Elsewhere elsewhere;
  private final AttemptSet running;
  private final Outcomes outcomes;
  private final TransactionOutcomes transactions;
  private boolean stopping;

  Stops(Attempts.Room room, Outcomes outcomes, TransactionOutcomes transactions) {
    this.env = room.basics().env();
    this.options = room.basics().options();
    this.timers = room.basics().timers();
    this.runner = room.parts().runner();
    this.elsewhere = room.parts().elsewhere();
    this.running = room.running();
    this.outcomes = outcomes;
    this.transactions = transactions;
  }

  /** Whether nothing starts any more. */
  boolean isStopping() {
    return stopping;
  }

  /** The attempt is asked to stop when its timeout or its job's deadline has come. */
  void watchTime(Attempt attempt, long nowMicros) {
    NodeJob job = attempt.job();
    long timeout = timeoutMicros(job);
    if (timeout != 0) {
      stopAfter(attempt, timeout, Attempt.StopCause.TIMEOUT);
    }
    if (job.has(JobSpec.DEADLINE) && !WorkflowOutcomes.isEnding(job)) {
      long left = job.head().deadlineMicros() - nowMicros;
      stopAfter(attempt, left, Attempt.StopCause.DEADLINE);
    }
  }

  /** The same of an attempt that an earlier owner started. */
  void watchAdopted(Attempt attempt, long nowMicros) {
    NodeJob job = attempt.job();
    long ran = Math.max(0, nowMicros - attempt.startedMicros());
    long timeout = timeoutMicros(job);
    if (timeout != 0) {
      stopAfter(attempt, Math.max(0, timeout - ran), Attempt.StopCause.TIMEOUT);
    }
    if (job.has(JobSpec.DEADLINE)) {
      long left = job.head().deadlineMicros() - nowMicros;
      stopAfter(attempt, Math.max(0, left), Attempt.StopCause.DEADLINE);
    }
  }

  /** The job's own timeout, else its handler's; 0 for none. */
  private static long timeoutMicros(NodeJob job) {
    if (job.has(JobSpec.TIMEOUT)) {
      return job.head().timeoutMicros();
    }
    HandlerSlot handler = HandlerSlot.of(job);
    return handler != null ? handler.timeoutMicros : 0;
  }

  private void stopAfter(Attempt attempt, long micros, Attempt.StopCause cause) {
    long nanos = Math.multiplyExact(Math.min(micros, Long.MAX_VALUE / 2000), 1000);
    attempt.timers.add(timers.at(env.monotonicNanos() + nanos, () -> ranOut(attempt, cause)));
  }

  private void interrupt(Attempt attempt) {
    if (attempt.lentTo != 0) {
      elsewhere.recall(attempt, true);
    } else {
      runner.interrupt(attempt);
    }
  }

  /**
   * The job of an attempt is paused; where {@code now}, the attempt is interrupted.
   *
   * @param then happens once the code of a workflow begins no call any more
   */
  public void pause(Attempt attempt, boolean now, Runnable then) {
    pause(attempt, now);
    if (attempt.lentTo != 0 && attempt.ofWorkflow) {
      elsewhere.recalled(attempt, now, then);
    } else {
      then.run();
    }
  }

  private void pause(Attempt attempt, boolean now) {
    if (!now) {
      pause(attempt, Attempt.StopCause.PAUSE);
    } else if (!attempt.over
        && (attempt.stopCause == null || attempt.stopCause == Attempt.StopCause.PAUSE)) {
      attempt.requestStop(Attempt.StopCause.PAUSE);
      interrupt(attempt);
    }
  }

  /** Asks an attempt to save and return. */
  public void pause(Attempt attempt, Attempt.StopCause cause) {
    if (attempt.stopCause == null) {
      attempt.requestStop(cause);
      if (attempt.lentTo != 0) {
        elsewhere.recall(attempt, false);
      }
    }
  }

  /**
   * The time of an attempt that was lent is over, and its handler has not returned.
   *
   * @param verdict what follows a timeout; null where it was the job's deadline
   */
  public void ranOutElsewhere(Attempt attempt, AttemptOutcome.@Nullable Verdict verdict) {
    if (attempt.over || attempt.settling) {
      return;
    }
    Runnable then =
        verdict == null
            ? () -> outOfTime(attempt, Attempt.StopCause.DEADLINE)
            : () -> timedOutElsewhere(attempt, verdict);
    if (attempt.closeCompletion()) {
      transactions.settle(attempt, then);
    } else {
      then.run();
    }
  }

  private void timedOutElsewhere(Attempt attempt, AttemptOutcome.Verdict verdict) {
    env.metrics().count("attempts.timeout", 1);
    outcomes.failedOrStopped(attempt, timeout(), verdict);
  }

  private JobError timeout() {
    return new JobError("timeout", "attempt took longer than its timeout", "", options.nodeId());
  }

  /** Its timeout or deadline has come while it runs. */
  private void ranOut(Attempt attempt, Attempt.StopCause cause) {
    if (attempt.over || attempt.settling) {
      return;
    }
    attempt.requestStop(cause);
    if (attempt.closeCompletion()) {
      transactions.settle(attempt, () -> outOfTime(attempt, cause));
    } else {
      outOfTime(attempt, cause);
    }
    interrupt(attempt);
  }

  private void outOfTime(Attempt attempt, Attempt.StopCause cause) {
    String expired = "deadline passed while it ran";
    if (cause == Attempt.StopCause.DEADLINE && outcomes.workflows().expired(attempt, expired)) {
      return;
    }
    if (cause == Attempt.StopCause.DEADLINE) {
      outcomes.end(attempt, outcomes.ended(attempt, JobState.EXPIRED, null, expired));
    } else {
      env.metrics().count("attempts.timeout", 1);
      timedOut(attempt);
    }
  }

  /** Whatever its handler still answers is refused; what follows is asked, for a while. */
  private void timedOut(Attempt attempt) {
    if (!outcomes.settle(attempt)) {
      return;
    }
    boolean[] judged = new boolean[1];
    Consumer<AttemptOutcome.Verdict> judge =
        verdict -> {
          if (!judged[0]) {
            judged[0] = true;
            attempt.job().busy--;
            outcomes.failedOrStopped(attempt, timeout(), verdict);
          }
        };
    if (attempt.worker != null) {
      judge.accept(new AttemptOutcome.Verdict.ByPolicy()); // its handler's rules are elsewhere
    } else {
      runner.judgeTimeout(attempt, judge);
    }
    if (!judged[0]) {
      attempt.timers.add(
          timers.at(
              env.monotonicNanos() + JUDGED_WITHIN_NANOS,
              () -> judge.accept(new AttemptOutcome.Verdict.ByPolicy())));
    }
  }

  /** A durable cancel request reached a running job. */
  public void cancel(Attempt attempt) {
    if (!attempt.over) {
      attempt.requestStop(Attempt.StopCause.CANCEL);
      interrupt(attempt);
    }
  }

  /** The job of an attempt ends at once, without it. */
  public void abandon(Attempt attempt) {
    if (!attempt.over) {
      outcomes.abandon(attempt);
      attempt.requestStop(Attempt.StopCause.CANCEL);
      interrupt(attempt);
    }
  }

  /** The occurrence under way is not to go on; its recurring job moves on when it has stopped. */
  public void stopOccurrence(Attempt attempt, String reason) {
    if (!attempt.over && attempt.stopReason == null) {
      attempt.stopReason = reason;
      attempt.requestStop(Attempt.StopCause.CANCEL);
      interrupt(attempt);
    }
  }

  /** Nothing starts any more. */
  public void stop() {
    stopping = true;
    elsewhere.workers().beginStop();
    for (Attempt attempt : running.all()) {
      if (attempt.worker == null) { // else it goes on under the next owner
        pause(attempt, Attempt.StopCause.SHUTDOWN);
      }
    }
  }

  /** Others may take this node's jobs: what runs is asked to stop, and what it says is tried. */
  public void fence() {
    for (Attempt attempt : running.all()) {
      if (!attempt.over && !attempt.isSafe()) {
        attempt.fence();
        interrupt(attempt); // also what was asked to stop in its own time
      }
    }
  }

  public void interruptAll() {
    for (Attempt attempt : running.all()) {
      if (attempt.worker == null) {
        interrupt(attempt);
      }
    }
  }

  /** Its shard is no longer this node's: whatever it answers is refused. */
  public void disown(NodeJob job) {
    Attempt attempt = Attempt.of(job);
    if (attempt != null && !attempt.over && attempt.worker != null) {
      boolean goesOn = attempt.isLeased();
      attempt.over = true;
      attempt.settled = true;
      attempt.fate(WorkerRun.Fate.UNKNOWN);
      if (!goesOn) {
        attempt.requestStop(Attempt.StopCause.FENCED);
      }
      elsewhere.workers().disowned(attempt);
    } else if (attempt != null && !attempt.over) {
      attempt.over = true;
      attempt.settled = true;
      attempt.requestStop(Attempt.StopCause.CANCEL);
      interrupt(attempt);
    }
  }
}
