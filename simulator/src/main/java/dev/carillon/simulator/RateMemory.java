package dev.carillon.simulator;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Rate;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a node may find used up of a concurrency key's rate. It reads the key's record when it first
 * needs it; one written before the wall clock was put back looks as if all of the rate were used
 * up, which costs the first start of that life one interval and a second at most.
 */
final class RateMemory {
  /** How far ahead of its starts a record may be. */
  private static final long AHEAD_NANOS = VirtualClock.SECOND;

  private final VirtualClock clock;
  private final Map<Name, Last> last = new LinkedHashMap<>();

  private record Name(String namespace, String key) {}

  /** The last start under a key, and who made it. */
  private record Last(long incarnation, long nanos) {}

  RateMemory(VirtualClock clock) {
    this.clock = clock;
  }

  void started(Execution execution) {
    Concurrency concurrency = execution.job.spec.more().concurrency();
    if (concurrency != null) {
      last.put(name(execution, concurrency), new Last(execution.owner, clock.nanos()));
    }
  }

  /** How long the start may have had to wait for a rate that was not used up. */
  long waitNanos(Execution execution) {
    Concurrency concurrency = execution.job.spec.more().concurrency();
    Rate rate = concurrency != null ? concurrency.rate() : null;
    if (concurrency == null || rate == null) {
      return 0;
    }
    long interval = rate.period().toNanos() / rate.permits();
    Last before = last.getOrDefault(name(execution, concurrency), new Last(0, 0));
    long writtenNanos = before.nanos() - interval * rate.burst() - AHEAD_NANOS; // or later
    boolean reads = before.incarnation() != execution.owner;
    return reads && clock.jumpedBackSince(writtenNanos) ? interval + AHEAD_NANOS : 0;
  }

  private static Name name(Execution execution, Concurrency concurrency) {
    return new Name(execution.job.spec.namespace(), concurrency.key());
  }
}
