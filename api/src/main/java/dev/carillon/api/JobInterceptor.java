package dev.carillon.api;

import org.jspecify.annotations.Nullable;

/**
 * Code around every attempt, such as logging context, tenant, tracing or a transaction. Called on
 * the attempt's own thread, the first registered outermost; must be thread-safe.
 *
 * <p>It belongs to the attempt: what it throws fails the attempt like an exception of the handler,
 * and it runs again with every retry and repeat.
 */
@FunctionalInterface
public interface JobInterceptor {

  /**
   * Runs one attempt, usually by calling {@code next.proceed()} exactly once.
   *
   * @param job the attempt and its job
   * @param next the next interceptor, or the handler
   * @return the result of the attempt, usually that of {@code next}
   * @throws Exception to fail the attempt
   */
  @Nullable Object around(JobContext job, Invocation next) throws Exception;

  /** What an interceptor wraps: the next interceptor, or the handler. */
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
