package dev.carillon.replay;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.format.Micros;
import java.time.Instant;

/** When a step that failed is tried again: counted as for attempts of jobs. */
final class StepRetries {
  /** There is no further try. */
  static final long NONE = 0;

  private StepRetries() {}

  /**
   * A try that failed.
   *
   * @param number 1 for the first
   * @param dueMicros when it was to be
   */
  record Failure(int number, long dueMicros, long startedMicros, long endedMicros) {}

  /** When the next try is due, with jitter; {@link #NONE} where there is none. */
  static long after(FailurePolicy policy, Failure failure, long random) {
    if (policy.kind() == FailurePolicy.Kind.DROP || failure.number() > policy.maxRetries()) {
      return NONE;
    }
    Schedule schedule = policy.schedule();
    if (schedule != null) {
      Instant ended = Micros.toInstant(failure.endedMicros());
      Instant next = schedule.nextAfter(Micros.toInstant(failure.dueMicros()), ended);
      return next == null ? NONE : Micros.ceil(next);
    }
    long wait = waitMicros(policy, failure.number());
    long time = failure.dueMicros() + wait;
    if (time <= failure.endedMicros()) {
      time += Math.max(0, failure.endedMicros() - failure.startedMicros());
    }
    if (time <= failure.endedMicros() && wait > 0) {
      time += ((failure.endedMicros() - time) / wait + 1) * wait;
    }
    long jitter = (long) (wait * policy.jitter());
    long next = jitter == 0 ? time : time + Math.floorMod(random, jitter + 1);
    return Math.max(1, next);
  }

  private static long waitMicros(FailurePolicy policy, int number) {
    double wait = Micros.ceil(policy.interval()) * StrictMath.pow(policy.factor(), number - 1);
    return (long) Math.min(wait, (double) Micros.ceil(policy.cap()));
  }
}
