package dev.carillon.simulator;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.AttemptOutcome;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When a failed attempt is followed by another: counted from the time it was to be, pushed only by
 * an attempt that itself took longer than the wait, and by whole waits where that has passed.
 */
final class RetryRule {
  private RetryRule() {}

  static void check(
      ModelJob job,
      JournalFormat.Retry retry,
      FailurePolicy policy,
      AttemptOutcome.@Nullable Verdict verdict) {
    long deadline = job.spec.deadline();
    long latest = deadline == 0 ? Long.MAX_VALUE : deadline;
    long time;
    long jitter = 0;
    Schedule schedule = policy.schedule();
    if (verdict instanceof AttemptOutcome.Verdict.RetryAt(long micros)) {
      time = micros;
    } else if (schedule != null) {
      Instant next =
          schedule.nextAfter(
              RecurrenceJudge.instant(job.time()), RecurrenceJudge.instant(retry.at()));
      time = next == null ? Long.MAX_VALUE : RecurrenceJudge.micros(next);
    } else {
      long wait = wait(policy, retry.attempt());
      time = job.time() + wait;
      if (time <= retry.at()) {
        time += Math.max(0, retry.at() - retry.startedAt());
      }
      while (wait > 0 && time <= retry.at()) {
        time += wait * Math.max(1, (retry.at() - time) / wait);
      }
      jitter = (long) (wait * policy.jitter());
    }
    if (verdict instanceof AttemptOutcome.Verdict.ByPolicyFrom(long micros)) {
      time = Math.max(time, micros);
    }
    long expected = Math.min(time, latest);
    long most = Math.min(jitter, latest - expected);
    Violation.check(
        retry.nextTime() == expected && retry.jitter() >= 0 && retry.jitter() <= most,
        Guarantee.RETRIES,
        () ->
            "the retry of %s after attempt %d is at %d + %d, expected %d + at most %d by %s"
                .formatted(
                    job,
                    retry.attempt(),
                    retry.nextTime(),
                    retry.jitter(),
                    expected,
                    most,
                    policy));
  }

  private static long wait(FailurePolicy policy, int attempt) {
    double wait = RecurrenceJudge.micros(policy.interval());
    double cap = RecurrenceJudge.micros(policy.cap());
    for (int i = 1; i < attempt && wait < cap; i++) {
      wait *= policy.factor();
    }
    return (long) Math.min(wait, cap);
  }
}
