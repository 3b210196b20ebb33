package dev.carillon.store.jdbc;

import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.DamageException;

/**
 * The entries of one generation of one shard, or of a snapshot that may become one. Entries name
 * their segment only, so publishing, discarding and dropping them is one small row, however many
 * they are.
 *
 * @param key its number inside the database; given again only when no entry is left
 * @param shard the key of the shard's head; 0 once it is garbage
 * @param generation which generation
 * @param snapshot the snapshot that began it; 0 for the first generation
 * @param tail entries up to this number are there, and no more once another generation is current
 */
record Segment(long key, long shard, int generation, long snapshot, State state, long tail) {

  /** What may be done with it. Codes are persisted. */
  enum State {
    /** A snapshot being written. */
    STAGED(1),
    /** Readable. */
    LIVE(2),
    /** To be removed. */
    GARBAGE(3);

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
        case 3 -> GARBAGE;
        default -> throw new DamageException("segment state: " + code + " (expected: 1 to 3)");
      };
    }
  }

  Segment live(long newTail) {
    return new Segment(key, shard, generation, snapshot, State.LIVE, newTail);
  }

  Segment garbage() {
    return new Segment(key, 0, generation, snapshot, State.GARBAGE, tail);
  }

  long crc(Checksum checksum) {
    checksum
        .begin()
        .putLong(key)
        .putLong(shard)
        .putInt(generation)
        .putLong(snapshot)
        .putInt(state.code())
        .putLong(tail);
    return checksum.end();
  }
}
