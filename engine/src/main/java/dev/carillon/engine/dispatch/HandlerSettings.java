package dev.carillon.engine.dispatch;

import dev.carillon.api.FailurePolicy;
import org.jspecify.annotations.Nullable;

/**
 * How a node treats the jobs of a handler that is registered there.
 *
 * @param limit how many of its attempts run at once
 * @param timeoutMicros how long an attempt of a job without a timeout may take; 0 for any time
 * @param policy what follows a failure of a job without a policy; null for the namespace's
 * @param workflow whether its jobs are workflows
 */
public record HandlerSettings(
    int limit, long timeoutMicros, @Nullable FailurePolicy policy, boolean workflow) {

  /** Of a handler that is no workflow. */
  public HandlerSettings(int limit, long timeoutMicros, @Nullable FailurePolicy policy) {
    this(limit, timeoutMicros, policy, false);
  }
}
