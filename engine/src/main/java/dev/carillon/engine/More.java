package dev.carillon.engine;

import dev.carillon.api.Concurrency;
import org.jspecify.annotations.Nullable;

/**
 * What few jobs have, after the other fields of a {@link JobSpec}.
 *
 * <pre>
 * mask        varint  {@link #RECURRING} …
 * first       long            if RECURRING: the time of its first occurrence
 * schedule    bytes           if RECURRING
 * policy      bytes           if POLICY
 * occurrence  {@link Occurrence}  if OCCURRENCE
 * concurrency {@link ConcurrencyFormat}  if CONCURRENCY
 * </pre>
 *
 * @param recurring the schedule of a recurring job
 * @param policy what follows a failure, as {@link PolicyFormat} writes it; null for the default
 * @param occurrence of which recurring job it is one time, and which
 * @param concurrency how many jobs like it run at once
 */
public record More(
    @Nullable Recurring recurring,
    byte @Nullable [] policy,
    @Nullable Occurrence occurrence,
    @Nullable Concurrency concurrency) {
  static final int RECURRING = 1;
  static final int POLICY = 2;
  static final int OCCURRENCE = 4;
  static final int CONCURRENCY = 8;
  private static final int ALL = RECURRING | POLICY | OCCURRENCE | CONCURRENCY;

  /** Nothing. */
  public static final More NONE = new More(null, null, null, null);

  /**
   * A recurring job's schedule.
   *
   * @param firstMicros the time of its first occurrence, without jitter
   * @param schedule as {@link ScheduleFormat} writes it
   */
  public record Recurring(long firstMicros, byte[] schedule) {}

  /** The same with another schedule, or none. */
  public More with(@Nullable Recurring newRecurring) {
    return new More(newRecurring, policy, occurrence, concurrency);
  }

  /** The same as one time of a recurring job. */
  More as(@Nullable Occurrence newOccurrence) {
    return new More(null, policy, newOccurrence, concurrency);
  }

  boolean isNone() {
    return mask() == 0;
  }

  int mask() {
    return (recurring != null ? RECURRING : 0)
        | (policy != null ? POLICY : 0)
        | (occurrence != null ? OCCURRENCE : 0)
        | (concurrency != null ? CONCURRENCY : 0);
  }

  void write(ByteWriter out) {
    out.varint(mask());
    if (recurring != null) {
      out.i64(recurring.firstMicros()).bytes(recurring.schedule());
    }
    if (policy != null) {
      out.bytes(policy);
    }
    if (occurrence != null) {
      occurrence.write(out);
    }
    if (concurrency != null) {
      ConcurrencyFormat.write(concurrency, out);
    }
  }

  static More read(ByteReader in) {
    int mask = (int) in.varint();
    if ((mask & ~ALL) != 0) {
      throw new UnknownFormatException("add: parts " + mask + " (expected: ones this reads)");
    }
    Recurring recurring = (mask & RECURRING) != 0 ? new Recurring(in.i64(), in.bytes()) : null;
    byte[] policy = (mask & POLICY) != 0 ? in.bytes() : null;
    Occurrence occurrence = (mask & OCCURRENCE) != 0 ? Occurrence.read(in) : null;
    Concurrency concurrency = (mask & CONCURRENCY) != 0 ? ConcurrencyFormat.read(in) : null;
    return new More(recurring, policy, occurrence, concurrency);
  }
}
