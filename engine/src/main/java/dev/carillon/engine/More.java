package dev.carillon.engine;

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
 * </pre>
 *
 * @param recurring the schedule of a recurring job
 * @param policy what follows a failure, as {@link PolicyFormat} writes it; null for the default
 * @param occurrence of which recurring job it is one time, and which
 */
public record More(
    @Nullable Recurring recurring, byte @Nullable [] policy, @Nullable Occurrence occurrence) {
  static final int RECURRING = 1;
  static final int POLICY = 2;
  static final int OCCURRENCE = 4;

  /** Nothing. */
  public static final More NONE = new More(null, null, null);

  /**
   * A recurring job's schedule.
   *
   * @param firstMicros the time of its first occurrence, without jitter
   * @param schedule as {@link ScheduleFormat} writes it
   */
  public record Recurring(long firstMicros, byte[] schedule) {}

  boolean isNone() {
    return mask() == 0;
  }

  int mask() {
    return (recurring != null ? RECURRING : 0)
        | (policy != null ? POLICY : 0)
        | (occurrence != null ? OCCURRENCE : 0);
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
  }

  static More read(ByteReader in) {
    int mask = (int) in.varint();
    if ((mask & ~(RECURRING | POLICY | OCCURRENCE)) != 0) {
      throw new UnknownFormatException("add: parts " + mask + " (expected: ones this reads)");
    }
    Recurring recurring = (mask & RECURRING) != 0 ? new Recurring(in.i64(), in.bytes()) : null;
    byte[] policy = (mask & POLICY) != 0 ? in.bytes() : null;
    Occurrence occurrence = (mask & OCCURRENCE) != 0 ? Occurrence.read(in) : null;
    return new More(recurring, policy, occurrence);
  }
}
