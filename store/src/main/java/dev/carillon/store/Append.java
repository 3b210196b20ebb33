package dev.carillon.store;

/**
 * One entry to be added to a journal: all of it or nothing, in order, never interleaved (S4).
 *
 * @param shard whose journal
 * @param epoch the epoch of the writer's claim
 * @param generation the generation the writer believes current
 * @param number the entry's number: the journal's tail + 1 (S5)
 * @param batch names this entry among all that may contend for its number; random, not zero. The
 *     same batch submitted again answers ok with its number and is not written twice
 * @param data the operations, framed by the engine; may be empty
 * @param raiseWakeMicros the shard's wake time once this entry is in, or {@link #KEEP_WAKE}.
 *     Raising takes an entry, so that a late raise finds its number taken
 * @param urgent whether it may use the reserve when the store is full: ends, not adds
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
public record Append(
    ShardId shard,
    long epoch,
    int generation,
    long number,
    long batch,
    byte[] data,
    long raiseWakeMicros,
    boolean urgent) {

  /** Leaves the wake time as it is. */
  public static final long KEEP_WAKE = Long.MIN_VALUE;

  public Append {
    if (batch == 0) {
      throw new IllegalArgumentException("batch: 0 (expected: not zero)");
    }
  }

  /** An ordinary entry. */
  public Append(ShardId shard, long epoch, int generation, long number, long batch, byte[] data) {
    this(shard, epoch, generation, number, batch, data, KEEP_WAKE, false);
  }

  /** The same entry, allowed to use the reserve. */
  public Append asUrgent() {
    return new Append(shard, epoch, generation, number, batch, data, raiseWakeMicros, true);
  }
}
