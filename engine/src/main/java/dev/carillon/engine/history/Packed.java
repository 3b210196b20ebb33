package dev.carillon.engine.history;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.WordFilter;

/**
 * That a shard's current generation is packed, and what its head says of it: where its footer is,
 * and enough to rule the shard out of many lists without reading anything of it. Small, because
 * heads are listed often; exact counts stand in the {@link Footer}.
 *
 * @param blocks entries that hold its operations
 * @param footers entries behind them
 * @param clean whether nothing was appended since
 * @param states the states of its jobs, a bit each by code; bit 0 for jobs that have not ended
 * @param firstEndMicros when the first of its jobs ended, 0 where none has
 * @param words the types, namespaces and queues of its jobs
 */
public record Packed(
    int blocks, int footers, boolean clean, int states, long firstEndMicros, WordFilter words) {

  /** The number of its last entry; what comes later was appended. */
  public long entries() {
    return (long) blocks + footers;
  }

  /** Whether jobs in it had not ended. */
  public boolean hasLive() {
    return (states & 1) != 0;
  }

  /** The same where the journal's last entry is {@code tail}. */
  public Packed at(long tail) {
    return new Packed(blocks, footers, tail == entries(), states, firstEndMicros, words);
  }

  void write(ByteWriter out) {
    out.varint(blocks).varint(footers).u8(clean ? 1 : 0).varint(states).i64(firstEndMicros);
    words.write(out);
  }

  static Packed read(ByteReader in) {
    return new Packed(
        (int) in.varint(),
        (int) in.varint(),
        in.u8() == 1,
        (int) in.varint(),
        in.i64(),
        WordFilter.read(in));
  }
}
