package dev.carillon.engine.attempt;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.shard.NodeJob;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that a transaction of its handler's has completed, as its row tells.
 *
 * <pre>
 * version   byte
 * attempt   varint
 * revision  varint
 * started   long    microseconds since 1970
 * node      string  the id of the node that ran it
 * result    the rest
 * </pre>
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
record Completed(int attempt, int revision, long startedMicros, String node, byte[] result) {
  private static final int VERSION = 1;

  byte[] encode() {
    return new ByteWriter(32 + result.length)
        .u8(VERSION)
        .varint(attempt)
        .varint(revision)
        .i64(startedMicros)
        .string(node)
        .raw(result)
        .toBytes();
  }

  static Completed decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    in.requireVersion("completion", VERSION);
    return new Completed((int) in.varint(), (int) in.varint(), in.i64(), in.string(), in.rest());
  }

  /** Whether it is the outcome of the attempt that the job has next, or has now. */
  static boolean fits(@Nullable Completed completed, NodeJob job) {
    return completed != null
        && completed.revision == job.revision
        && completed.attempt == job.attempts + 1;
  }
}
