package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a type gives to the jobs that it makes. Each job stores it and may say otherwise.
 *
 * @param queue the queue, or null for {@link Job#DEFAULT_QUEUE}
 * @param priority the priority
 * @param timeout the timeout of each attempt, or null for none
 * @param failurePolicy what follows a failed attempt, or null for the handler's
 */
record JobDefaults(
    @Nullable String queue,
    int priority,
    @Nullable Duration timeout,
    @Nullable FailurePolicy failurePolicy) {

  static final JobDefaults NONE = new JobDefaults(null, 0, null, null);

  JobDefaults queue(String queue) {
    return new JobDefaults(Limits.checkQueue(queue), priority, timeout, failurePolicy);
  }

  JobDefaults priority(int priority) {
    return new JobDefaults(queue, Limits.checkPriority(priority), timeout, failurePolicy);
  }

  JobDefaults timeout(Duration timeout) {
    return new JobDefaults(queue, priority, Limits.checkTimeout(timeout), failurePolicy);
  }

  JobDefaults onFailure(FailurePolicy policy) {
    return new JobDefaults(queue, priority, timeout, Check.present("policy", policy));
  }
}
