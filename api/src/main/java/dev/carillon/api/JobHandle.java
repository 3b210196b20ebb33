package dev.carillon.api;

import dev.carillon.api.error.ClosedException;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.JobTimeoutException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.Workflow;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A job that was scheduled and is durable. Thread-safe. It holds no resources; the job goes on
 * whether or not anyone keeps its handle.
 *
 * @param <O> the result; {@code Void} for tasks
 */
public interface JobHandle<O> {

  /**
   * The job.
   *
   * @return its id, good on any node and after any restart
   */
  JobId id();

  /**
   * Whether scheduling made this job.
   *
   * @return false if the name or the idempotency key already had a job, which this handle stands
   *     for
   */
  boolean created();

  /**
   * What is known about the job now.
   *
   * @return a snapshot
   * @throws JobNotFoundException if the job ended and its retention is over
   * @throws StoreUnavailableException if it must be read and the store could not be reached
   */
  JobInfo info();

  /**
   * Asks that the job does not run, or stops. Asking again is safe.
   *
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return what came of it
   * @throws OutcomeUnknownException if it is not known whether the cancel was recorded
   */
  CancelResult cancel(String reason);

  /**
   * Asks that the job does not run, or stops, without giving a reason. Asking again is safe.
   *
   * @return what came of it
   * @throws OutcomeUnknownException if it is not known whether the cancel was recorded
   */
  default CancelResult cancel() {
    return cancel("");
  }

  /**
   * Sends a signal to the job, which is a workflow. It is durable when this returns, also where the
   * workflow does not await it yet.
   *
   * @param type the type of the signal
   * @param payload what it carries, at most {@link Limits#SIGNAL_MAX_BYTES} encoded; null for
   *     nothing
   * @param <T> what a signal of the type carries
   * @return {@link SignalResult#DONE}, or why not
   * @throws OutcomeUnknownException if it is not known whether it was taken
   */
  <T> SignalResult signal(SignalType<T> type, @Nullable T payload);

  /**
   * Calls back with the job as it is now and after changes, until it has ended or the subscription
   * is closed. Calls come one at a time, in order, on a thread of Carillon's; changes close
   * together may be seen as one, the end never is left out while this process lives. What the
   * watcher throws is caught and counted.
   *
   * @param watcher called with each snapshot
   * @return the subscription, which ends with the process
   * @throws JobNotFoundException if the job ended and its retention is over
   * @throws StoreCorruptedException if the job cannot be read
   */
  Subscription watch(Consumer<JobInfo> watcher);

  /**
   * What the code of the job, a workflow, published last by {@link Workflow#publish}. It stays
   * after the end of the job, as long as the job is kept.
   *
   * @param type the type to decode it to
   * @param <T> what it is
   * @return the value, or empty if there is none
   * @throws JobNotFoundException if the job ended and its retention is over
   * @throws CodecException if it cannot be decoded to the type
   * @throws StoreUnavailableException if the store could not be reached
   */
  <T> Optional<T> published(TypeToken<T> type);

  /**
   * What the code of the job, a workflow, published last; see {@link #published(TypeToken)}.
   *
   * @param type the class to decode it to
   * @param <T> what it is
   * @return the value, or empty if there is none
   */
  default <T> Optional<T> published(Class<T> type) {
    return published(TypeToken.of(type));
  }

  /**
   * Waits for the job to succeed and returns its result.
   *
   * @param timeout how long to wait
   * @return the result; null for tasks and for handlers that returned null
   * @throws JobFailedException if the job ended otherwise
   * @throws JobTimeoutException if it has not ended in time; it goes on
   * @throws WaitInterruptedException if this thread is interrupted; the job goes on
   * @throws JobNotFoundException if the job ended and its retention is over
   * @throws CodecException if the result cannot be decoded
   */
  @Nullable O result(Duration timeout);

  /**
   * The result, when the job ends. Cancelling the future does not cancel the job.
   *
   * @return a future that completes with the result, or exceptionally as {@link #result} does, or
   *     with {@link ClosedException} if Carillon is closed first
   */
  CompletableFuture<@Nullable O> resultAsync();
}
