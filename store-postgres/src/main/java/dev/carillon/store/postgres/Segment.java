package dev.carillon.store.postgres;

import dev.carillon.store.ShardId;
import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.DamageException;

/**
 * Consecutive entries of one generation of one shard that lie in one table of entries. Entries name
 * their segment only, so publishing, discarding and dropping them is one small row, however many
 * they are. A generation has one segment for each period in which it was written to.
 *
 * @param key its number, never given again
 * @param generation which generation
 * @param snapshot the snapshot that began the generation; 0 for the first one
 * @param period which table its entries are in
 * @param first the number of its first entry
 * @param last the number of its last entry; 0 while it takes appends or is being staged
 */
record Segment(
    long key, int generation, long snapshot, State state, int period, long first, long last) {

  /** What may be done with it. Codes are persisted. */
  enum State {
    /** A snapshot being written. */
    STAGED(1),
    /** Readable. */
    LIVE(2);

    private final int code;

    State(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }

    static State ofCode(int code) {
      return switch (code) {
        case 1 -> STAGED;
        case 2 -> LIVE;
        default -> throw new DamageException("segment state: " + code + " (expected: 1 or 2)");
      };
    }
  }

  /** The one that takes the appends of a generation from {@code first} on. */
  static Segment open(long key, int generation, long snapshot, int period, long first) {
    return new Segment(key, generation, snapshot, State.LIVE, period, first, 0);
  }

  static Segment staged(long key, int generation, long snapshot, int period) {
    return new Segment(key, generation, snapshot, State.STAGED, period, 1, 0);
  }

  Segment published() {
    return new Segment(key, generation, snapshot, State.LIVE, period, first, last);
  }

  Segment closed(long newLast) {
    return new Segment(key, generation, snapshot, state, period, first, newLast);
  }

  Segment movedTo(int newPeriod) {
    return new Segment(key, generation, snapshot, state, newPeriod, first, last);
  }

  long crc(Checksum checksum, ShardId shard) {
    checksum
        .begin(shard)
        .putLong(key)
        .putInt(generation)
        .putLong(snapshot)
        .putInt(state.code())
        .putInt(period)
        .putLong(first)
        .putLong(last);
    return checksum.end();
  }
}
