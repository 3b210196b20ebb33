package dev.carillon.engine.job;

import dev.carillon.api.schedule.Overlap;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;

/**
 * One time of a recurring job that is a job of its own.
 *
 * @param schedule the recurring job's number, in the same shard
 * @param number 1 for its first occurrence
 * @param timeMicros when it was to be, without jitter
 * @param overlap how it stands to other occurrences of the same job
 */
public record OccurrenceSpec(long schedule, long number, long timeMicros, Overlap overlap) {

  public void write(ByteWriter out) {
    out.i64(schedule).varint(number).i64(timeMicros).u8(overlap.code());
  }

  public static OccurrenceSpec read(ByteReader in) {
    return new OccurrenceSpec(in.i64(), in.varint(), in.i64(), Overlap.ofCode(in.u8()));
  }
}
