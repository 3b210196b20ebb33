package dev.carillon.api;

import org.jspecify.annotations.Nullable;

/**
 * The code that runs jobs of a {@link JobType}.
 *
 * <p>One handler serves many attempts at a time, each on a thread of its own (a virtual one by
 * default), so it must be thread-safe; it may block. It runs <em>at least once</em> per job: again
 * after a failure, a timeout, or a crash before its outcome was recorded. Make it idempotent, with
 * {@link JobContext#id()} as the key where another system needs one.
 *
 * @param <I> the input
 * @param <O> the result
 */
@FunctionalInterface
public interface JobHandler<I extends @Nullable Object, O extends @Nullable Object> {

  /**
   * Runs one attempt.
   *
   * @param input the input, decoded anew for each attempt
   * @param job the attempt and its job
   * @return the result, which is durable before anyone else sees it
   * @throws Exception to fail the attempt, which is retried by the job's policy; {@link
   *     NotRetryableException} to fail it for good
   */
  @Nullable O run(I input, JobContext job) throws Exception;
}
