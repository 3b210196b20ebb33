package dev.carillon.replay;

import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.StepBody;
import dev.carillon.api.StepContext;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a run of a workflow needs of the node that it runs on. Thread-safe; nothing here blocks but
 * {@link #park}.
 */
public interface WorkflowHost {

  /** The job that runs. */
  JobFacts job();

  /** The wall clock, in microseconds since 1970. */
  long wallMicros();

  /** A random number, of what is recorded once it was drawn. */
  long random();

  /** A result as it is stored. */
  byte[] encode(@Nullable Object value, Type type);

  /** What {@link #encode} gave, or a caller from outside. */
  @Nullable Object decode(byte[] stored, Type type);

  /** A child as it is scheduled; refuses what no child can be. */
  JobSpec child(Job<?> job);

  /** What is recorded of something thrown. */
  JobError error(Throwable thrown);

  /**
   * Runs the body of a step for one try, and what wraps it.
   *
   * @throws Exception what fails the try
   */
  default @Nullable Object runStep(String name, StepContext step, StepBody<?> body)
      throws Exception {
    return body.run(step);
  }

  /** A thread for a step, not started. */
  Thread newThread(Runnable step);

  /** Runs an action after a while, on any thread, unless it is cancelled before. */
  Cancellable after(Duration delay, Runnable action);

  /** Calls {@link WorkflowRun#wake} soon, of this run and perhaps of many in one go. */
  void wake(WorkflowRun run);

  /**
   * Parks the thread of a run, which calls this, until {@link #wake}, an interrupt, or for so long;
   * 0 for any time. It may return before.
   */
  default void park(WorkflowRun run, long nanos) {
    if (nanos > 0) {
      LockSupport.parkNanos(run, nanos);
    } else {
      LockSupport.park(run);
    }
  }

  /** The workflow reports something of itself. */
  void report(Report report);

  /** Something that can be called off. */
  @FunctionalInterface
  interface Cancellable {
    void cancel();
  }
}
