package dev.carillon.engine.job;

import dev.carillon.api.Concurrency;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What few jobs have, after the other fields of a {@link JobSpec}.
 *
 * <pre>
 * mask        varint  {@link #RECURRING} …
 * first       long            if RECURRING: the time of its first occurrence
 * schedule    bytes           if RECURRING
 * policy      bytes           if POLICY
 * occurrence  {@link OccurrenceSpec}  if OCCURRENCE
 * concurrency {@link ConcurrencyFormat}  if CONCURRENCY
 * after       varint and so many {@link After}  if AFTER
 * waiters     varint and so many {@link JobRef}  if WAITERS
 * </pre>
 *
 * @param recurring the schedule of a recurring job
 * @param policy what follows a failure, as {@link PolicyFormat} writes it; null for the default
 * @param occurrence of which recurring job it is one time, and which
 * @param concurrency how many jobs like it run at once
 * @param after the jobs that it waits for
 * @param waiters the jobs that wait for it and were added together with it
 * @param child whether it is the child of the workflow that waits for it
 */
public record OptionalSpec(
    @Nullable Recurring recurring,
    byte @Nullable [] policy,
    @Nullable OccurrenceSpec occurrence,
    @Nullable Concurrency concurrency,
    List<After> after,
    List<JobRef> waiters,
    boolean child) {
  public static final int RECURRING = 1;
  public static final int POLICY = 2;
  public static final int OCCURRENCE = 4;
  public static final int CONCURRENCY = 8;
  public static final int AFTER = 16;
  static final int WAITERS = 32;
  public static final int CHILD = 64;
  private static final int ALL =
      RECURRING | POLICY | OCCURRENCE | CONCURRENCY | AFTER | WAITERS | CHILD;

  /** Nothing. */
  public static final OptionalSpec NONE =
      new OptionalSpec(null, null, null, null, List.of(), List.of());

  /** Of a job that is no child of a workflow. */
  public OptionalSpec(
      @Nullable Recurring recurring,
      byte @Nullable [] policy,
      @Nullable OccurrenceSpec occurrence,
      @Nullable Concurrency concurrency,
      List<After> after,
      List<JobRef> waiters) {
    this(recurring, policy, occurrence, concurrency, after, waiters, false);
  }

  /** The same as the child of a workflow. */
  public OptionalSpec childOf(JobRef parent) {
    return new OptionalSpec(
        recurring, policy, occurrence, concurrency, after, List.of(parent), true);
  }

  /**
   * A recurring job's schedule.
   *
   * @param firstMicros the time of its first occurrence, without jitter
   * @param schedule as {@link ScheduleFormat} writes it
   */
  public record Recurring(long firstMicros, byte[] schedule) {}

  /** The same with another schedule, or none. */
  public OptionalSpec with(@Nullable Recurring newRecurring) {
    return new OptionalSpec(newRecurring, policy, occurrence, concurrency, after, waiters, child);
  }

  /** The same as a job of its own, which may be one time of a recurring job. */
  OptionalSpec as(@Nullable OccurrenceSpec newOccurrence) {
    return new OptionalSpec(null, policy, newOccurrence, concurrency, List.of(), List.of());
  }

  /** The same waiting for these jobs, and with these waiting for it. */
  public OptionalSpec with(List<After> newAfter, List<JobRef> newWaiters) {
    return new OptionalSpec(recurring, policy, occurrence, concurrency, newAfter, newWaiters);
  }

  boolean isNone() {
    return mask() == 0;
  }

  public int mask() {
    return (recurring != null ? RECURRING : 0)
        | (policy != null ? POLICY : 0)
        | (occurrence != null ? OCCURRENCE : 0)
        | (concurrency != null ? CONCURRENCY : 0)
        | (after.isEmpty() ? 0 : AFTER)
        | (waiters.isEmpty() ? 0 : WAITERS)
        | (child ? CHILD : 0);
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
    if (!after.isEmpty()) {
      out.varint(after.size());
      after.forEach(each -> each.write(out));
    }
    if (!waiters.isEmpty()) {
      JobRef.writeAll(waiters, out);
    }
  }

  /** Reads what {@link #write} wrote; without the lists of other jobs if nobody needs these. */
  static OptionalSpec read(ByteReader in, boolean withOthers) {
    int mask = (int) in.varint();
    if ((mask & ~ALL) != 0) {
      throw new UnknownFormatException("add: parts " + mask + " (expected: ones this reads)");
    }
    Recurring recurring = (mask & RECURRING) != 0 ? new Recurring(in.i64(), in.bytes()) : null;
    byte[] policy = (mask & POLICY) != 0 ? in.bytes() : null;
    OccurrenceSpec occurrence = (mask & OCCURRENCE) != 0 ? OccurrenceSpec.read(in) : null;
    Concurrency concurrency = (mask & CONCURRENCY) != 0 ? ConcurrencyFormat.read(in) : null;
    boolean child = (mask & CHILD) != 0;
    if (!withOthers) {
      return new OptionalSpec(
          recurring, policy, occurrence, concurrency, List.of(), List.of(), child);
    }
    List<After> after = (mask & AFTER) != 0 ? readAfter(in) : List.of();
    List<JobRef> waiters = (mask & WAITERS) != 0 ? JobRef.readAll(in) : List.of();
    return new OptionalSpec(recurring, policy, occurrence, concurrency, after, waiters, child);
  }

  private static List<After> readAfter(ByteReader in) {
    int size = in.length();
    List<After> after = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      after.add(After.read(in));
    }
    return after;
  }
}
