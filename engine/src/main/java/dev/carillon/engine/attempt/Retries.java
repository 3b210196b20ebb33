package dev.carillon.engine.attempt;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.dispatch.HandlerSlot;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.shard.NodeJob;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * When a failed attempt is followed by another: by the job's own policy, else its handler's, else
 * its namespace's, else the node's.
 *
 * <p>The wait is counted from the time the failed attempt was to be. An attempt that was late, for
 * whatever reason, does not shift those after it; one that itself took longer than the wait pushes
 * them by as long as it took, so that a slow failure is not retried at once. Where the time has
 * passed all the same, because the attempt was later than its wait, whole waits are passed over:
 * what follows keeps its distance, and a job does not use up its retries in a burst.
 */
public final class Retries {
  private final NodeEnvironment env;
  private final FailurePolicy standard;
  private final Map<String, FailurePolicy> namespaces = new LinkedHashMap<>();

  /**
   * A failed attempt.
   *
   * @param number 1 for the first
   * @param timeMicros when it was to be
   */
  record Failure(int number, long timeMicros, long startedMicros, long endedMicros) {}

  /**
   * The attempt that follows.
   *
   * @param timeMicros when it is to be
   * @param jitterMicros how much later it is due
   */
  record Next(long timeMicros, long jitterMicros) {
    /** The same, not before a time. */
    Next from(long micros) {
      return timeMicros >= micros ? this : new Next(micros, jitterMicros);
    }
  }

  public Retries(NodeEnvironment env, FailurePolicy standard) {
    this.env = env;
    this.standard = standard;
  }

  public void namespace(String namespace, FailurePolicy policy) {
    namespaces.put(namespace, policy);
  }

  public FailurePolicy of(NodeJob job) {
    byte[] own = job.hasPolicy() ? job.head().more().policy() : null;
    if (own != null) {
      return PolicyFormat.decode(own);
    }
    HandlerSlot handler = HandlerSlot.of(job);
    if (handler != null && handler.policy != null) {
      return handler.policy;
    }
    return namespaces.isEmpty() ? standard : namespaces.getOrDefault(job.namespace, standard);
  }

  /** The next attempt, or null where there is none. */
  @Nullable Next after(FailurePolicy policy, Failure failure) {
    if (policy.kind() == FailurePolicy.Kind.DROP || failure.number() > policy.maxRetries()) {
      return null;
    }
    Schedule schedule = policy.schedule();
    if (schedule != null) {
      Instant ended = Micros.toInstant(failure.endedMicros());
      Instant next = schedule.nextAfter(Micros.toInstant(failure.timeMicros()), ended);
      return next == null ? null : new Next(Micros.ceil(next), 0);
    }
    long wait = waitMicros(policy, failure.number());
    long time = failure.timeMicros() + wait;
    if (time <= failure.endedMicros()) {
      time += Math.max(0, failure.endedMicros() - failure.startedMicros());
    }
    if (time <= failure.endedMicros() && wait > 0) {
      time += ((failure.endedMicros() - time) / wait + 1) * wait;
    }
    long jitter = (long) (wait * policy.jitter());
    return new Next(time, jitter == 0 ? 0 : Math.floorMod(env.random(), jitter + 1));
  }

  private static long waitMicros(FailurePolicy policy, int number) {
    double wait = Micros.ceil(policy.interval()) * StrictMath.pow(policy.factor(), number - 1);
    return (long) Math.min(wait, (double) Micros.ceil(policy.cap()));
  }
}
