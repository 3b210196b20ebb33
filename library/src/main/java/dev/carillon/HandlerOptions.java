package dev.carillon;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Limits;
import dev.carillon.api.RetryRule;
import dev.carillon.api.Upcaster;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a handler is to be used. Start from {@link #defaults()}; each method returns a copy.
 * Immutable and thread-safe.
 *
 * <p>Timeout and failure policy count where neither the job nor its type says otherwise, on the
 * node where the attempt runs. The order is: job, type, handler, namespace, node.
 */
public final class HandlerOptions {
  private static final HandlerOptions DEFAULTS = new HandlerOptions(new Draft());

  private final int limit;
  private final @Nullable Duration timeout;
  private final @Nullable Upcaster upcaster;
  private final @Nullable FailurePolicy failurePolicy;
  private final @Nullable RetryRule retryRule;
  private final @Nullable Executor executor;
  private final boolean platformThreads;

  private HandlerOptions(Draft draft) {
    this.limit = draft.limit;
    this.timeout = draft.timeout;
    this.upcaster = draft.upcaster;
    this.failurePolicy = draft.failurePolicy;
    this.retryRule = draft.retryRule;
    this.executor = draft.executor;
    this.platformThreads = draft.platformThreads;
  }

  /**
   * No limit, no timeout, no upcaster, no policy and no rule; a virtual thread for each attempt.
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
   * @throws dev.carillon.api.error.InvalidArgumentException if it is below 1
   */
  public HandlerOptions limit(int limit) {
    int checked = OptionChecks.positive("limit", limit);
    return with(draft -> draft.limit = checked);
  }

  /**
   * With a timeout for attempts of jobs that have none of their own: one that takes longer is
   * interrupted and counts as failed.
   *
   * @param timeout from {@link Limits#TIMEOUT_MIN} to {@link Limits#TIMEOUT_MAX}
   * @return a copy
   * @throws dev.carillon.api.error.InvalidJobException if it is out of range
   */
  public HandlerOptions timeout(Duration timeout) {
    Duration checked = Limits.checkTimeout(timeout);
    return with(draft -> draft.timeout = checked);
  }

  /**
   * With an upcaster for inputs of older versions. Without one such a job is blocked as {@link
   * dev.carillon.api.BlockReason#UNDECODABLE}.
   *
   * @param upcaster the upcaster
   * @return a copy
   */
  public HandlerOptions upcaster(Upcaster upcaster) {
    Upcaster checked = Limits.checkPresent("upcaster", upcaster);
    return with(draft -> draft.upcaster = checked);
  }

  /**
   * With a failure policy for jobs that have none of their own.
   *
   * @param policy the policy
   * @return a copy
   */
  public HandlerOptions failurePolicy(FailurePolicy policy) {
    FailurePolicy checked = Limits.checkPresent("policy", policy);
    return with(draft -> draft.failurePolicy = checked);
  }

  /**
   * With a rule that is asked about each failure before any policy.
   *
   * @param rule the rule
   * @return a copy
   */
  public HandlerOptions retryRule(RetryRule rule) {
    RetryRule checked = Limits.checkPresent("rule", rule);
    return with(draft -> draft.retryRule = checked);
  }

  /**
   * With a new platform thread for each attempt, for code that holds its carrier: native calls, or
   * {@code synchronized} around waiting on Java 21 to 23. Set a {@link #limit} too: each such
   * thread costs memory.
   *
   * @return a copy
   */
  public HandlerOptions platformThreads() {
    return with(
        draft -> {
          draft.platformThreads = true;
          draft.executor = null;
        });
  }

  /**
   * With the threads of an executor. Carillon does not close it.
   *
   * <ul>
   *   <li>An attempt that waits in the executor's queue holds a slot, and its timeout runs: set a
   *       {@link #limit} of as many attempts as the executor has threads.
   *   <li>An executor that throws {@link java.util.concurrent.RejectedExecutionException}, because
   *       it is full or shut down, costs the job no attempt: the job is due again a second later,
   *       and its history says why.
   *   <li>Timeouts, cancels and closing interrupt the thread while the handler has it, and never
   *       afterwards.
   *   <li>An executor that accepts an attempt and drops it silently holds the job, until this node
   *       closes.
   * </ul>
   *
   * @param executor whose threads run the handler
   * @return a copy
   */
  public HandlerOptions executor(Executor executor) {
    Executor checked = Limits.checkPresent("executor", executor);
    return with(
        draft -> {
          draft.executor = checked;
          draft.platformThreads = false;
        });
  }

  int limit() {
    return limit;
  }

  @Nullable Duration timeout() {
    return timeout;
  }

  @Nullable Upcaster upcaster() {
    return upcaster;
  }

  @Nullable FailurePolicy failurePolicy() {
    return failurePolicy;
  }

  @Nullable RetryRule retryRule() {
    return retryRule;
  }

  @Nullable Executor executor() {
    return executor;
  }

  boolean usesPlatformThreads() {
    return platformThreads;
  }

  private HandlerOptions with(Consumer<Draft> change) {
    Draft draft = new Draft();
    draft.limit = limit;
    draft.timeout = timeout;
    draft.upcaster = upcaster;
    draft.failurePolicy = failurePolicy;
    draft.retryRule = retryRule;
    draft.executor = executor;
    draft.platformThreads = platformThreads;
    change.accept(draft);
    return new HandlerOptions(draft);
  }

  /** Options that can still be changed. */
  private static final class Draft {
    int limit = Integer.MAX_VALUE;
    @Nullable Duration timeout;
    @Nullable Upcaster upcaster;
    @Nullable FailurePolicy failurePolicy;
    @Nullable RetryRule retryRule;
    @Nullable Executor executor;
    boolean platformThreads;
  }
}
