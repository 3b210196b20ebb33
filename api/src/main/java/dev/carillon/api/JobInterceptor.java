package dev.carillon.api;

import dev.carillon.api.workflow.StepContext;
import org.jspecify.annotations.Nullable;

/**
 * Code around every attempt, such as logging context, tenant, tracing or a transaction, around
 * every try of a workflow's step, and before every job is scheduled. Must be thread-safe.
 *
 * <p>What belongs to the caller, such as a trace, is put into the job's metadata by {@link
 * #scheduling} and found there by {@link #around}, whichever node runs the attempt and however
 * often.
 */
@FunctionalInterface
public interface JobInterceptor {

  /**
   * Sees a job before it is scheduled, on the caller's thread, the first registered first.
   *
   * @param job what the caller asked for
   * @return what is scheduled: usually the same, or with more metadata
   * @param <O> the result of the job
   */
  default <O> Job<O> scheduling(Job<O> job) {
    return job;
  }

  /**
   * Runs one attempt, usually by calling {@code next.proceed()} exactly once, on the attempt's own
   * thread, the first registered outermost. It belongs to the attempt: what it throws fails the
   * attempt like an exception of the handler, and it runs again with every retry and repeat.
   *
   * @param job the attempt and its job
   * @param next the next interceptor, or the handler
   * @return the result of the attempt, usually that of {@code next}
   * @throws Exception to fail the attempt
   */
  @Nullable Object around(JobContext job, Invocation next) throws Exception;

  /**
   * Runs one try of a step or compensation of a workflow, usually by calling {@code next.proceed()}
   * exactly once, on the thread of the try, the first registered outermost. What it returns is
   * recorded as the result of the step, and what it throws fails the try. A step whose result is
   * recorded does not come here again.
   *
   * @param job the attempt and its job
   * @param name the name of the step
   * @param step the try
   * @param next the next interceptor, or the body of the step
   * @return the result of the step, usually that of {@code next}
   * @throws Exception to fail the try
   */
  default @Nullable Object aroundStep(
      JobContext job, String name, StepContext step, Invocation next) throws Exception {
    return next.proceed();
  }

  /** What an interceptor wraps: the next interceptor, or the handler or body of a step. */
  @FunctionalInterface
  interface Invocation {

    /**
     * Goes on.
     *
     * @return the result; null for tasks
     * @throws Exception what the handler or an inner interceptor threw
     */
    @Nullable Object proceed() throws Exception;
  }
}
