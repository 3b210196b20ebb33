package dev.carillon.engine;

import dev.carillon.store.Head;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an owner leaves in a shard's head for the next one: enough to go on adding to it without
 * reading it, to know when a drained one may go, and what of it a list need not look at. Version 1
 * ended with the time of the last end.
 *
 * @param widthSeconds of its bucket
 * @param added jobs ever added
 * @param addedBytes their size
 * @param drained whether all of them have ended
 * @param evidence whether only dead and failed jobs are left
 * @param dead jobs kept until they are discarded
 * @param failed jobs kept for the retention of failures
 * @param keyed ended jobs whose idempotency key may still be recorded
 * @param lastEndMicros when the last one ended
 * @param bytes what its current generation takes, as far as its owner knew; 0 where it did not
 * @param packed null where its current generation is not packed
 */
record Summary(
    int widthSeconds,
    long added,
    long addedBytes,
    boolean drained,
    boolean evidence,
    int dead,
    int failed,
    int keyed,
    long lastEndMicros,
    long bytes,
    @Nullable Packed packed) {
  private static final int VERSION = 2;
  private static final int DRAINED = 1;
  private static final int EVIDENCE = 2;
  private static final int PACKED = 4;

  /** Stands for one that this code cannot read. */
  static final Summary UNREADABLE = new Summary(1, 0, 0, false, false, 0, 0, 0, 0, 0, null);

  static Summary fresh(Bucket bucket) {
    return new Summary(bucket.widthSeconds(), 0, 0, false, false, 0, 0, 0, 0, 0, null);
  }

  byte[] encode() {
    ByteWriter out =
        new ByteWriter(128)
            .u8(VERSION)
            .u8((drained ? DRAINED : 0) | (evidence ? EVIDENCE : 0) | (packed != null ? PACKED : 0))
            .varint(widthSeconds)
            .varint(added)
            .varint(addedBytes)
            .varint(dead)
            .varint(failed)
            .varint(keyed)
            .i64(lastEndMicros)
            .varint(bytes);
    if (packed != null) {
      packed.write(out);
    }
    return out.toBytes();
  }

  /** The summary in a head, or empty where this code cannot read it. */
  static Optional<Summary> read(Head head) {
    try {
      ByteReader in = new ByteReader(head.summary(), 0, head.summary().length);
      int version = in.u8();
      if (version < 1 || version > VERSION) {
        return Optional.empty();
      }
      int flags = in.u8();
      return Optional.of(
          new Summary(
              (int) in.varint(),
              in.varint(),
              in.varint(),
              (flags & DRAINED) != 0,
              (flags & EVIDENCE) != 0,
              (int) in.varint(),
              (int) in.varint(),
              (int) in.varint(),
              in.i64(),
              version >= 2 ? in.varint() : 0,
              (flags & PACKED) != 0 ? Packed.read(in) : null));
    } catch (DamagedException e) {
      return Optional.empty();
    }
  }

  /** The same shard while something may be on its way to it. */
  Summary asOpen() {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        false,
        false,
        dead,
        failed,
        keyed,
        lastEndMicros,
        bytes,
        packed);
  }

  /** The same shard with its idempotency keys forgotten. */
  Summary withoutKeys() {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        drained,
        evidence,
        dead,
        failed,
        0,
        lastEndMicros,
        bytes,
        packed);
  }

  /** The same shard after a compaction left only evidence. */
  Summary asEvidence(int deadLeft, int failedLeft, long bytesLeft) {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        true,
        true,
        deadLeft,
        failedLeft,
        0,
        lastEndMicros,
        bytesLeft,
        null);
  }

  /** The same shard in another generation. */
  Summary rewritten(long newBytes, @Nullable Packed newPacked) {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        drained,
        evidence,
        dead,
        failed,
        keyed,
        lastEndMicros,
        newBytes,
        newPacked);
  }
}
