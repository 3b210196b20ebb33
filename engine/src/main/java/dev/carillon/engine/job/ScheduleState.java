package dev.carillon.engine.job;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;

/**
 * Where a recurring job stands: its next occurrence and what it remembers for the one after.
 *
 * @param timeMicros when the occurrence is to be
 * @param jitterMicros how much later it is due
 * @param count occurrences that have taken place
 * @param missedUntilMicros occurrences up to then were missed and are made up for, one by one
 * @param madeUp how many of them have been
 */
public record ScheduleState(
    long timeMicros, long jitterMicros, long count, long missedUntilMicros, int madeUp) {

  public void write(ByteWriter out) {
    out.i64(timeMicros).varint(jitterMicros).varint(count).i64(missedUntilMicros).varint(madeUp);
  }

  public static ScheduleState read(ByteReader in) {
    return new ScheduleState(in.i64(), in.varint(), in.varint(), in.i64(), (int) in.varint());
  }

  /** The occurrence has taken place, and there is no other. */
  public ScheduleState counted() {
    return new ScheduleState(timeMicros, jitterMicros, count + 1, missedUntilMicros, madeUp);
  }

  /** Where a recurring job begins. */
  public static ScheduleState first(JobSpec spec, OptionalSpec.Recurring recurring) {
    return new ScheduleState(
        recurring.firstMicros(),
        Math.max(0, spec.dueMicros() - recurring.firstMicros()),
        0,
        Long.MIN_VALUE,
        0);
  }
}
