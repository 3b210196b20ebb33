package dev.carillon.engine.fold;

import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * When the oldest of what a generation tells of the past took place, by how long that is kept:
 * knows when part of it is past its retention.
 */
public final class OldestEnds {
  private static final long NONE = Long.MAX_VALUE;

  /** First occurrences that are told, by recurring job; of one that has ended its end counts. */
  private final Map<Long, Long> occurred = new LinkedHashMap<>(0);

  /** Ends that nobody keeps longer than success. */
  private long succeededMicros = NONE;

  /** The same of jobs with an idempotency key. */
  private long keyedMicros = NONE;

  private long failedMicros = NONE;
  private long deadMicros = NONE;

  public void ended(FoldedJob job, OperationBody.End end) {
    occurred.remove(job.number);
    switch (end.state()) {
      case DEAD -> deadMicros = Math.min(deadMicros, end.at());
      case FAILED -> failedMicros = Math.min(failedMicros, end.at());
      default -> {
        if (job.has(JobSpec.KEYED)) {
          keyedMicros = Math.min(keyedMicros, end.at());
        } else {
          succeededMicros = Math.min(succeededMicros, end.at());
        }
      }
    }
  }

  /** A recurring job went on to its next time. */
  void occurred(long job, long at) {
    occurred.merge(job, at, Math::min);
  }

  /** From when on some of it is kept no longer. */
  public long keptUntilMicros(NodeOptions options) {
    long success = Micros.ceil(options.successRetention());
    long first = occurred.values().stream().reduce(succeededMicros, Math::min);
    long keys = Math.max(success, Micros.ceil(options.keyRetention()));
    return Math.min(
        Math.min(until(first, success), until(keyedMicros, keys)),
        Math.min(
            until(failedMicros, Micros.ceil(options.failureRetention())),
            until(deadMicros, Micros.ceil(options.deadRetention()))));
  }

  private static long until(long endMicros, long keepMicros) {
    return endMicros > NONE - keepMicros ? NONE : endMicros + keepMicros;
  }
}
