package dev.carillon.engine;

import dev.carillon.store.Head;
import java.util.Optional;

/**
 * What an owner leaves in a shard's head for the next one: enough to go on adding to it without
 * reading it, and to know when a drained one may go.
 *
 * @param widthSeconds of its bucket
 * @param added jobs ever added
 * @param addedBytes their size
 * @param drained whether all of them have ended
 * @param deadOrFailed how many ended as evidence that is kept longer
 * @param lastEndMicros when the last one ended
 */
record Summary(
    int widthSeconds,
    long added,
    long addedBytes,
    boolean drained,
    int deadOrFailed,
    long lastEndMicros) {
  private static final int VERSION = 1;

  /** Stands for one that this code cannot read. */
  static final Summary UNREADABLE = new Summary(1, 0, 0, false, 0, 0);

  static Summary fresh(Bucket bucket) {
    return new Summary(bucket.widthSeconds(), 0, 0, false, 0, 0);
  }

  byte[] encode() {
    return new ByteWriter(32)
        .u8(VERSION)
        .varint(widthSeconds)
        .varint(added)
        .varint(addedBytes)
        .u8(drained ? 1 : 0)
        .varint(deadOrFailed)
        .i64(lastEndMicros)
        .toBytes();
  }

  /** The summary in a head, or empty where this code cannot read it. */
  static Optional<Summary> read(Head head) {
    try {
      ByteReader in = new ByteReader(head.summary(), 0, head.summary().length);
      if (in.u8() != VERSION) {
        return Optional.empty();
      }
      return Optional.of(
          new Summary(
              (int) in.varint(),
              in.varint(),
              in.varint(),
              in.u8() == 1,
              (int) in.varint(),
              in.i64()));
    } catch (DamagedException e) {
      return Optional.empty();
    }
  }
}
