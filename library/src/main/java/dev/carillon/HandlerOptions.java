package dev.carillon;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.RetryRule;
import dev.carillon.api.Upcaster;
import org.jspecify.annotations.Nullable;

/**
 * How a handler is to be used. Start from {@link #defaults()}; each method returns a copy.
 *
 * @param limit how many of its attempts run at once on this node, at least 1
 * @param upcaster for inputs written with an older version of the type, or null
 * @param failurePolicy what follows a failure of a job without a policy of its own, or null
 * @param retryRule asked about a failure before any policy, or null
 */
public record HandlerOptions(
    int limit,
    @Nullable Upcaster upcaster,
    @Nullable FailurePolicy failurePolicy,
    @Nullable RetryRule retryRule) {

  private static final HandlerOptions DEFAULTS =
      new HandlerOptions(Integer.MAX_VALUE, null, null, null);

  /**
   * Checks the limit.
   *
   * @throws IllegalArgumentException if it is below 1
   */
  public HandlerOptions {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " (expected: at least 1)");
    }
  }

  /**
   * No limit of its own, no upcaster, no policy and no rule.
   *
   * @return the defaults
   */
  public static HandlerOptions defaults() {
    return DEFAULTS;
  }

  /**
   * With a limit on the attempts that run at once on this node. Those above it wait, and are shown
   * as blocked by {@link dev.carillon.api.BlockReason#LIMIT}.
   *
   * @param limit at least 1
   * @return a copy
   */
  public HandlerOptions limit(int limit) {
    return new HandlerOptions(limit, upcaster, failurePolicy, retryRule);
  }

  /**
   * With an upcaster for inputs of older versions. Without one such a job is blocked as {@link
   * dev.carillon.api.BlockReason#UNDECODABLE}.
   *
   * @param upcaster the upcaster
   * @return a copy
   */
  public HandlerOptions upcaster(Upcaster upcaster) {
    return new HandlerOptions(limit, upcaster, failurePolicy, retryRule);
  }

  /**
   * With a failure policy for jobs that have none of their own.
   *
   * @param policy the policy
   * @return a copy
   */
  public HandlerOptions failurePolicy(FailurePolicy policy) {
    return new HandlerOptions(limit, upcaster, policy, retryRule);
  }

  /**
   * With a rule that is asked about each failure before any policy.
   *
   * @param rule the rule
   * @return a copy
   */
  public HandlerOptions retryRule(RetryRule rule) {
    return new HandlerOptions(limit, upcaster, failurePolicy, rule);
  }
}
