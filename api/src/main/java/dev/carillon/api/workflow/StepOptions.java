package dev.carillon.api.workflow;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a step is tried: {@code StepOptions.retry(policy).timeout(Duration.ofSeconds(30))}. Immutable
 * and thread-safe; each method returns a copy.
 *
 * <p>By default a step is retried by {@link FailurePolicy#standard()}, like a job for which nobody
 * says another policy, and has no timeout.
 *
 * @param retry what follows a failed try; null for the default
 * @param timeout after which a try is interrupted; null for none
 * @param isAtMostOnce whether a try is never repeated whose outcome is not known
 */
public record StepOptions(
    @Nullable FailurePolicy retry, @Nullable Duration timeout, boolean isAtMostOnce) {
  private static final StepOptions DEFAULTS = new StepOptions(null, null, false);

  /**
   * Checks the parts.
   *
   * @throws InvalidJobException if the timeout is out of range
   */
  public StepOptions {
    if (timeout != null) {
      Limits.checkTimeout(timeout);
    }
  }

  /**
   * The defaults.
   *
   * @return the same instance each time
   */
  public static StepOptions defaults() {
    return DEFAULTS;
  }

  /**
   * The defaults with a policy.
   *
   * @param policy what follows a failed try
   * @return the options
   * @throws InvalidArgumentException if it is null
   */
  public static StepOptions retry(FailurePolicy policy) {
    return DEFAULTS.withRetry(policy);
  }

  /**
   * With a policy. Each failed try is recorded with the time of the next one, and no slot is held
   * between them.
   *
   * @param policy what follows a failed try
   * @return a copy
   * @throws InvalidArgumentException if it is null
   */
  public StepOptions withRetry(FailurePolicy policy) {
    return new StepOptions(Check.argument("policy", policy), timeout, isAtMostOnce);
  }

  /**
   * With a timeout for each try: one that takes longer is interrupted, and has failed if it then
   * throws.
   *
   * @param timeout from {@link Limits#TIMEOUT_MIN} to {@link Limits#TIMEOUT_MAX}
   * @return a copy
   * @throws InvalidJobException if it is null or out of range
   */
  public StepOptions timeout(Duration timeout) {
    return new StepOptions(retry, Limits.checkTimeout(timeout), isAtMostOnce);
  }

  /**
   * For work that must not be repeated. The beginning of each try is durable before its body runs;
   * where a crash cuts the try off, the step has failed for good, and its error says so. Without a
   * policy of its own such a step makes a single try; with one it is tried again after failures
   * that the body itself threw.
   *
   * @return a copy
   */
  public StepOptions atMostOnce() {
    return new StepOptions(retry, timeout, true);
  }

  /**
   * The policy that counts.
   *
   * @return that of the options; else none for a step at most once, and the standard one for others
   */
  public FailurePolicy policy() {
    if (retry != null) {
      return retry;
    }
    return isAtMostOnce ? FailurePolicy.drop() : FailurePolicy.standard();
  }
}
