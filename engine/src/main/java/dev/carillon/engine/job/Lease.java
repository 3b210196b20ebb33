package dev.carillon.engine.job;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;

/**
 * The right of a worker to run an attempt, as the journal has it. It outlives the owner that gave
 * it: each later owner counts the whole length again from its claim.
 *
 * @param nonce tells the attempt from all others
 * @param epoch of the shard under which the attempt began
 * @param worker the name of the worker, as people know it
 * @param startedMicros when the attempt was given to the worker
 * @param lengthMicros how long the worker may be silent; 0 where it gave the attempt back, which is
 *     as if not made
 */
public record Lease(long nonce, long epoch, String worker, long startedMicros, long lengthMicros) {
  /** The type of the error that an attempt ends with whose worker was lost. */
  public static final String WORKER_LOST = "worker lost";

  /** So many attempts in a row lose their workers before their job is dead. */
  public static final int MOST_LOST = 3;

  public void write(ByteWriter out) {
    out.i64(nonce).i64(epoch).string(worker).i64(startedMicros).varint(lengthMicros);
  }

  public static Lease read(ByteReader in) {
    return new Lease(in.i64(), in.i64(), in.string(), in.i64(), in.varint());
  }

  /** varint attempt, varint revision, long at, then the lease. */
  public record Recorded(int attempt, int revision, long at, Lease lease) {
    /** Writes the body of the operation. */
    public byte[] encode() {
      ByteWriter out = new ByteWriter(48).varint(attempt).varint(revision).i64(at);
      lease.write(out);
      return out.toBytes();
    }

    public static Recorded decode(ByteReader in) {
      return new Recorded((int) in.varint(), (int) in.varint(), in.i64(), Lease.read(in));
    }
  }
}
